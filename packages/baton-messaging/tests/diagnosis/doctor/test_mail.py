"""The doctor's question about mail, asked of a real server and of backends that need none."""

from collections.abc import Callable
from typing import Any

import django
import pytest
from baton_dev.testing.deadline import within
from baton_dev.testing.smtp_server import smtp_server
from baton_messaging.diagnosis.doctor.examination import DEADLINE_SECONDS
from baton_messaging.diagnosis.doctor.mail import examine_mail_server
from baton_messaging.health.diagnosis import Diagnosis, Status
from pytest_django import Settings

MailTo = Callable[..., None]


@pytest.fixture
def mail_to(settings: Settings) -> MailTo:
    """Return a function that makes Django send mail to a server, with a login if there is a password."""

    def configure(port: int, password: str = "") -> None:
        user = "ann" if password else ""
        options = {"host": "127.0.0.1", "port": port, "username": user, "password": password, "timeout": 9}
        if django.VERSION >= (6, 1):
            settings.MAILERS = {
                "default": {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": options}
            }
            return
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", port, 9
        settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = user, password

    return configure


def examined() -> Diagnosis:
    (line,) = examine_mail_server()
    return line


def test_a_mail_server_that_lets_us_in_is_right_and_gets_no_mail(mail_to: MailTo) -> None:
    with smtp_server() as server:
        mail_to(server.port)
        line = examined()
    assert (line.status, str(line.found)) == (Status.OK, f"EmailBackend to 127.0.0.1:{server.port} takes mail")
    assert server.accepted == []


@pytest.mark.parametrize("replies", [{"greeting": "silence"}, {"greeting": "554 go away"}, {"greeting": "hang up"}])
def test_a_mail_server_that_is_silent_or_rude_is_found_in_time(mail_to: MailTo, replies: dict[str, Any]) -> None:
    with smtp_server(**replies) as server:
        mail_to(server.port)
        line = within(examined, seconds=DEADLINE_SECONDS)
    assert (line.status, line.wanted) == (Status.FINDING, "a server that lets us log in")
    assert "EMAIL_URL" in str(line.remedy)  # as the scaffold calls it
    assert "go away" not in str(line.found)


def test_the_password_of_the_mail_server_is_not_told(mail_to: MailTo) -> None:
    mail_to(1, password="pa55word")
    line = examined()
    assert line.status is Status.FINDING
    assert "refused" in str(line.found)
    assert "pa55word" not in str(line)


def test_a_backend_that_needs_no_server_is_right() -> None:
    line = examined()  # the tests' own, which keeps mails in memory
    assert (line.status, str(line.found)) == (Status.OK, "EmailBackend takes mail")
