"""Fixtures of the notifications tests: the port to the orders, and where mail goes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from config.email_url import mail_settings
from tests.notifications.factories import KNOWN
from tests.notifications.smtp_server import SmtpServer, smtp_server


@pytest.fixture(autouse=True)
def _orders_of_the_factory(settings: Settings) -> Iterator[None]:
    settings.NOTIFICATIONS_ORDER_DETAILS = "tests.notifications.factories.details_of"
    yield
    KNOWN.clear()


@pytest.fixture
def mail_to(settings: Settings, tmp_path: Path) -> Callable[[str], None]:
    """Return a function that makes Django send mail to an EMAIL_URL."""

    def configure(url: str) -> None:
        for name, value in mail_settings(url, default_folder=tmp_path).items():
            setattr(settings, name, value)

    return configure


@pytest.fixture
def mail_server(mail_to: Callable[[str], None]) -> Iterator[Callable[..., SmtpServer]]:
    """Return a function that starts a mail server and makes Django use it."""
    with ExitStack() as servers:

        def start(**replies: Any) -> SmtpServer:
            server = servers.enter_context(smtp_server(**replies))
            mail_to(server.url)
            return server

        yield start
