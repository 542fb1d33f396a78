from pathlib import Path
from typing import Any

import django
import pytest

from config.mail.url import BadEmailUrl, mail_settings

FOLDER = Path("/var/baton/mail")


def mailer(url: str) -> tuple[str, dict[str, Any]]:
    """The backend and its options, whichever way this version of Django wants them."""
    configured = mail_settings(url, default_folder=FOLDER)
    if django.VERSION >= (6, 1):
        default = configured["MAILERS"]["default"]
        return default["BACKEND"].split(".")[-1], {**default["OPTIONS"]}
    names = {"EMAIL_HOST_USER": "username", "EMAIL_HOST_PASSWORD": "password", "EMAIL_FILE_PATH": "file_path"}
    backend = configured.pop("EMAIL_BACKEND").split(".")[-1]
    return backend, {names.get(key, key.removeprefix("EMAIL_").lower()): value for key, value in configured.items()}


def smtp(**options: Any) -> tuple[str, dict[str, Any]]:
    usual = {"username": "", "password": "", "use_tls": False, "use_ssl": False, "timeout": 10.0}
    return "EmailBackend", usual | options


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://mail.example.com", smtp(host="mail.example.com", port=25)),
        ("smtp://[::1]:2525", smtp(host="::1", port=2525)),
        ("smtp+tls://mail.example.com", smtp(host="mail.example.com", port=587, use_tls=True)),
        ("smtps://mail.example.com", smtp(host="mail.example.com", port=465, use_ssl=True)),
        (
            "smtp://shop%40example.com:p%40ss%2Fword@mail.example.com:26?timeout=2.5",
            smtp(host="mail.example.com", port=26, timeout=2.5, username="shop@example.com", password="p@ss/word"),
        ),
        ("file:///srv/my%20mail", ("OneFilePerMailBackend", {"file_path": "/srv/my mail"})),
        ("", ("OneFilePerMailBackend", {"file_path": str(FOLDER)})),
        ("console://", ("EmailBackend", {})),
    ],
)
def test_a_url_becomes_the_settings_of_a_mailer(url: str, expected: tuple[str, dict[str, Any]]) -> None:
    assert mailer(url) == expected


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("mail.example.com", "unknown scheme ''"),
        ("http://mail.example.com", "unknown scheme 'http'"),
        ("smtp://", "names no host"),
        ("smtp://:25", "names no host"),
        ("smtp://secret-user@mail.example.com", "user without a password"),
        ("smtp://mail.example.com:99999", "port that is no number"),
        ("smtp://mail.example.com:mail", "port that is no number"),
        ("smtp://[::1", "is no URL"),
        ("smtp://mail.example.com?timeout=soon", "timeout that is no number"),
        ("smtp://mail.example.com?timeout=", "timeout that is no number"),
        ("smtp://mail.example.com?timeout=0", "not above 0"),
        ("smtp://mail.example.com?timeout=inf", "not above 0"),
        ("smtp://mail.example.com?timeout=nan", "not above 0"),
        ("smtp://mail.example.com?tls=1", "unknown option 'tls'"),
        ("file://", "no absolute folder"),
        ("file:///", "no absolute folder"),
        ("file://relative/folder", "no absolute folder"),
    ],
)
def test_a_broken_url_is_refused_with_the_variable_and_without_its_value(url: str, problem: str) -> None:
    with pytest.raises(BadEmailUrl, match=r"^EMAIL_URL: ") as caught:
        mail_settings(url, default_folder=FOLDER)
    assert problem in str(caught.value)
    assert "secret" not in str(caught.value)
