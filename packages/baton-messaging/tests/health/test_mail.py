"""The check of the mail server, asked of real servers in bad states."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import django
import pytest
from baton_dev.testing.deadline import within
from baton_dev.testing.smtp_server import smtp_server
from baton_messaging.health.condition import Condition
from pytest_django import Settings

from tests.broker.tls import tls_in_front_of
from tests.health.conftest import Check

MailTo = Callable[..., None]


@pytest.fixture
def mail_to(settings: Settings) -> MailTo:
    """Return a function that makes Django send mail to a server, with a login if there is a password."""

    def configure(port: int, password: str = "", *, tls: bool = False) -> None:
        user = "ann" if password else ""
        options = {"host": "127.0.0.1", "port": port, "username": user, "password": password, "use_ssl": tls}
        if django.VERSION >= (6, 1):
            backend = "django.core.mail.backends.smtp.EmailBackend"
            settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": options}}
            return
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_SSL = "127.0.0.1", port, tls
        settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = user, password

    return configure


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Trust the certificate that is going to be made there."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    return tmp_path / "certificate.pem"


def test_server_that_takes_the_sender_is_well_and_gets_no_mail(check: Check, mail_to: MailTo) -> None:
    with smtp_server() as server:
        mail_to(server.port, password="pa55word")
        health = check("mail")

    assert (health.condition, health.said, health.server) == (Condition.OK, "", f"127.0.0.1:{server.port}")
    assert server.accepted == []


@pytest.mark.parametrize(
    ("replies", "condition", "said"),
    [
        ({"greeting": "554 go away"}, Condition.NOT_PERMITTED, "554 go away"),
        ({"greeting": "421 too many connections"}, Condition.REFUSES, "421 too many connections"),
        ({"greeting": "hang up"}, Condition.AWAY, "Connection unexpectedly closed"),
        ({"AUTH": "535 wrong for ann@shop.example"}, Condition.NOT_PERMITTED, "535 wrong for …@shop.example"),
        ({"MAIL": "452 4.3.1 insufficient system storage"}, Condition.FULL, "452 4.3.1 insufficient system storage"),
        ({"MAIL": "550 sender not allowed"}, Condition.NOT_PERMITTED, "550 sender not allowed"),
    ],
)  # fmt: skip
def test_refusal_is_told_in_the_servers_words(
    check: Check, mail_to: MailTo, replies: dict[str, Any], condition: Condition, said: str
) -> None:
    with smtp_server(**replies) as server:
        mail_to(server.port, password="pa55word")
        health = check("mail")

    assert (health.condition, health.said) == (condition, said)
    assert "pa55word" not in str(health.as_dict())


@pytest.mark.parametrize("replies", [{"greeting": "silence"}, {"EHLO": "dribble"}])
def test_server_that_keeps_us_waiting_is_not_waited_for(check: Check, mail_to: MailTo, replies: dict[str, Any]) -> None:
    with smtp_server(**replies) as server:
        mail_to(server.port)
        health = within(lambda: check("mail", deadline_seconds=3), seconds=6)

    assert health.condition is Condition.AWAY


@pytest.mark.parametrize(
    ("certificate", "said"),
    [
        ({"days": 30}, ""),
        ({"days": -3}, "certificate verify failed: certificate has expired"),
        ({"days": 30, "address": "127.0.0.2"}, "certificate verify failed: IP address mismatch"),
    ],
)
def test_certificate_is_looked_at(
    check: Check, mail_to: MailTo, trusted: Path, certificate: dict[str, Any], said: str
) -> None:
    with smtp_server() as server, tls_in_front_of(server.port, trusted.parent, **certificate) as (port, _path):
        mail_to(port, tls=True)
        health = check("mail")

    assert health.condition is (Condition.AWAY if said else Condition.OK)
    assert health.said.startswith(said)
    if not said:
        assert 29 < health.facts["certificate"]["days_left"] <= 30
        assert health.facts["certificate"]["names"] == ["127.0.0.1"]


def test_certificate_of_nobody_known_is_told(check: Check, mail_to: MailTo, tmp_path: Path) -> None:
    with smtp_server() as server, tls_in_front_of(server.port, tmp_path) as (port, _certificate):
        mail_to(port, tls=True)
        health = check("mail")

    assert (health.condition, health.said) == (Condition.AWAY, "certificate verify failed: self-signed certificate")


def test_server_without_tls_is_told(check: Check, mail_to: MailTo) -> None:
    with smtp_server() as server:
        mail_to(server.port, tls=True)
        health = check("mail")

    assert health.condition is Condition.DIFFERENT
    assert "WRONG_VERSION_NUMBER" in health.said


def test_backend_that_needs_no_server_is_well(check: Check) -> None:
    assert check("mail").condition is Condition.OK
