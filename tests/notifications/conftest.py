"""Fixtures of the notifications tests: the port to the orders, and where mail goes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from baton_dev.testing.smtp_server import SmtpServer, smtp_server
from pytest_django import Settings

from tests.config.mail.conftest import mail_to  # noqa: F401 - a fixture
from tests.notifications.factories import KNOWN


@pytest.fixture(autouse=True)
def _orders_of_the_factory(settings: Settings) -> Iterator[None]:
    settings.NOTIFICATIONS_ORDER_DETAILS = "tests.notifications.factories.details_of"
    yield
    KNOWN.clear()


@pytest.fixture
def mail_server(
    mail_to: Callable[[str], None],  # noqa: F811 - as above
) -> Iterator[Callable[..., SmtpServer]]:
    """Return a function that starts a mail server and makes Django use it."""
    with ExitStack() as servers:

        def start(**replies: Any) -> SmtpServer:
            server = servers.enter_context(smtp_server(**replies))
            mail_to(server.url)
            return server

        yield start
