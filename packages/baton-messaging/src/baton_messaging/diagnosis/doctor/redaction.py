"""Redaction of secrets from diagnoses: an error of a server or a library may quote them.

A secret is what a setting holds whose name says so, at any depth, and the password in any address.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from baton_messaging.health.diagnosis import Diagnosis

REDACTED: Final = "…"
_IS_SECRET: Final = re.compile(
    r"(PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?|CONNECTION_STRING|SECRET_KEY_FALLBACKS|(?<!ROUTING)_KEY)$",
    re.IGNORECASE,
).search
_MIN_LENGTH: Final = 3  # characters; redacting each "1" would make the text unreadable and nothing safer


def redacted(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Return the diagnoses, in the active language, with every secret of the settings replaced."""
    secrets = sorted(set(_secrets()), key=len, reverse=True)
    return [_redacted(one, secrets) for one in diagnoses]


def _redacted(one: Diagnosis, secrets: list[str]) -> Diagnosis:
    return replace(
        one,
        found=_redact(str(one.found), secrets),
        remedy=_redact(str(one.remedy), secrets),
        command=_redact(one.command, secrets),
        victims=tuple(_redacted(victim, secrets) for victim in one.victims),
    )


def _redact(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


def _secrets() -> Iterator[str]:
    for name in dir(settings):
        if name.isupper():
            with suppress(ImproperlyConfigured):  # there is no SECRET_KEY
                found = _secrets_in(getattr(settings, name), is_secret=bool(_IS_SECRET(name)))
                yield from (secret for secret in found if len(secret) >= _MIN_LENGTH)


def _secrets_in(value: Any, *, is_secret: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _secrets_in(inner, is_secret=is_secret or bool(_IS_SECRET(str(name))))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from _secrets_in(inner, is_secret=is_secret)
    elif isinstance(value, str):
        yield from [value] if is_secret else _passwords_in(value)


def _passwords_in(text: str) -> Iterator[str]:
    for address in text.split(";") if "://" in text else ():
        with suppress(ValueError):  # it only looks like one
            password = urlsplit(address).password or ""
            yield from (password, unquote(password))
