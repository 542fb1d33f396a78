"""Keep passwords out of what the doctor says: an error of a server or a library may quote them."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from messaging.doctor.lines import Line

HIDDEN: Final = "…"
_NAMES: Final = ("PASSWORD", "SECRET", "TOKEN")
_MIN_LENGTH: Final = 3  # characters; hiding each "1" would make the text unreadable and nothing safer


def without_secrets(line: Line) -> Line:
    """Return the line with every secret of the settings replaced."""
    return replace(line, found=_hide(line.found), remedy=_hide(line.remedy))


def _hide(text: str) -> str:
    for secret in sorted(set(_secrets()), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def _secrets() -> Iterator[str]:
    places = (settings.DATABASES, settings.STORAGES, settings.CELERY_BROKER_TRANSPORT_OPTIONS)
    found = [secret for place in (*places, getattr(settings, "MAILERS", {})) for secret in _passwords(place)]
    found += [*settings.SECRET_KEY_FALLBACKS, getattr(settings, "EMAIL_HOST_PASSWORD", "")]
    with suppress(ImproperlyConfigured):  # there is none
        found.append(settings.SECRET_KEY)
    for url in str(settings.CELERY_BROKER_READ_URL).split(";"):
        password = urlsplit(url).password or ""
        found += [password, unquote(password)]
    yield from (secret for secret in found if len(secret) >= _MIN_LENGTH)


def _passwords(values: dict[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _passwords(value)
        elif isinstance(value, str) and any(part in name.upper() for part in _NAMES):
            yield value
