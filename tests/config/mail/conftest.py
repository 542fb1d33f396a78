from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from config.mail.url import mail_settings


@pytest.fixture
def mail_to(settings: Settings, tmp_path: Path) -> Callable[[str], None]:
    """Return a function that makes Django send mail to an EMAIL_URL."""

    def configure(url: str) -> None:
        for name, value in mail_settings(url, default_folder=tmp_path).items():
            setattr(settings, name, value)

    return configure
