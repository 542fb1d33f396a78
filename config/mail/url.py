"""EMAIL_URL becomes Django's mail settings.

    smtp://USER:PASSWORD@HOST:25        plain text
    smtp+tls://USER:PASSWORD@HOST:587   STARTTLS
    smtps://USER:PASSWORD@HOST:465      TLS from the first byte
    file:///absolute/folder             one readable file per mail
    console://                          to standard output

``?timeout=SECONDS`` bounds each wait for an SMTP server (default 10). User and password are percent-encoded.
Django 6.1 wants MAILERS and warns of the EMAIL_* settings that 5.2 needs, so each version gets its own.
"""

from pathlib import Path
from typing import Any
from urllib.parse import ParseResult, parse_qs, unquote, urlparse

import django

_DEFAULT_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
# Seconds per answer: ten times what a healthy server takes, and well within any consumer's soft limit.
_DEFAULT_TIMEOUT_SECONDS = 10.0
_SMTP_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
_CONSOLE_BACKEND = "django.core.mail.backends.console.EmailBackend"
_FILE_BACKEND = "config.mail.backend.OneFilePerMailBackend"
# Option of a backend -> the setting that Django 5.2 reads for it.
_SETTING_OF_OPTION = {
    "host": "EMAIL_HOST",
    "port": "EMAIL_PORT",
    "username": "EMAIL_HOST_USER",
    "password": "EMAIL_HOST_PASSWORD",
    "use_tls": "EMAIL_USE_TLS",
    "use_ssl": "EMAIL_USE_SSL",
    "timeout": "EMAIL_TIMEOUT",
    "file_path": "EMAIL_FILE_PATH",
}


class BadEmailUrl(ValueError):
    """Say what is wrong with EMAIL_URL, without repeating it: it may hold a password."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"EMAIL_URL: {problem}. Expected smtp://, smtp+tls:// or smtps:// with "
            "[USER:PASSWORD@]HOST[:PORT][?timeout=SECONDS], file:///FOLDER or console://."
        )


def mail_settings(url: str, *, default_folder: Path) -> dict[str, Any]:
    """Return the settings by name; an empty URL means files in ``default_folder``. Raises BadEmailUrl."""
    backend, options = _mailer(url) if url else (_FILE_BACKEND, {"file_path": str(default_folder)})
    if django.VERSION >= (6, 1):
        return {"MAILERS": {"default": {"BACKEND": backend, "OPTIONS": options}}}
    return {"EMAIL_BACKEND": backend, **{_SETTING_OF_OPTION[option]: value for option, value in options.items()}}


def _mailer(url: str) -> tuple[str, dict[str, Any]]:
    try:
        parsed = urlparse(url)
    except ValueError:
        raise BadEmailUrl("is no URL") from None
    match parsed.scheme:
        case "smtp" | "smtp+tls" | "smtps":
            return _SMTP_BACKEND, _smtp_options(parsed)
        case "file" if parsed.path.strip("/") and not parsed.netloc:
            return _FILE_BACKEND, {"file_path": unquote(parsed.path)}
        case "file":
            raise BadEmailUrl("names no absolute folder")
        case "console":
            return _CONSOLE_BACKEND, {}
        case _:
            raise BadEmailUrl(f"has the unknown scheme {parsed.scheme!r}")


def _smtp_options(parsed: ParseResult) -> dict[str, Any]:
    if not parsed.hostname:
        raise BadEmailUrl("names no host")
    if bool(parsed.username) != bool(parsed.password):
        raise BadEmailUrl("has a user without a password, or the reverse")
    return {
        "host": parsed.hostname,
        "port": _port(parsed),
        "username": unquote(parsed.username or ""),
        "password": unquote(parsed.password or ""),
        "use_tls": parsed.scheme == "smtp+tls",
        "use_ssl": parsed.scheme == "smtps",
        "timeout": _timeout_seconds(parsed),
    }


def _port(parsed: ParseResult) -> int:
    try:
        port = parsed.port
    except ValueError:
        raise BadEmailUrl("has a port that is no number from 1 to 65535") from None
    return port or _DEFAULT_PORTS[parsed.scheme]


def _timeout_seconds(parsed: ParseResult) -> float:
    query = parse_qs(parsed.query, keep_blank_values=True)
    if unknown := query.keys() - {"timeout"}:
        raise BadEmailUrl(f"has the unknown option {min(unknown)!r}")
    try:
        seconds = float(query.get("timeout", [str(_DEFAULT_TIMEOUT_SECONDS)])[-1])
    except ValueError:
        raise BadEmailUrl("has a timeout that is no number") from None
    if not 0 < seconds < float("inf"):
        raise BadEmailUrl("has a timeout that is not above 0")
    return seconds
