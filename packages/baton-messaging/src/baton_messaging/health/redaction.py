"""Secrets are left out of what a server says: its errors may quote a password, a mail address or a line of a row.

A secret is what a setting holds whose name says so, at any depth, and the password in any address.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

REDACTED: Final = "…"
#: Characters of a server's words that are kept: enough for a sentence.
MAX_LENGTH: Final = 300
_IS_SECRET: Final = re.compile(
    r"(PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?|CONNECTION_STRING|SECRET_KEY_FALLBACKS|(?<!ROUTING)_KEY)$",
    re.IGNORECASE,
).search
_MIN_LENGTH: Final = 3  # characters; redacting each "1" would make the text unreadable and nothing safer
#: What is a secret by its form, whatever the settings hold.
_BY_FORM: Final = (
    (re.compile(r"(\w://)[^/\s@]*@"), r"\1…@"),  # login in an address
    (re.compile(r"(?i)\b(password|passwd|passphrase|secret|token)(\s*[=:]\s*)\S+"), r"\1\2…"),
    (re.compile(r"[^\s<>@\"'(),;:]+@([\w-]+(?:\.[\w-]+)+)"), r"…@\1"),  # a person's mail address
    (re.compile(r"(with args beginning with:).*", re.DOTALL), r"\1 …"),  # Redis quotes the command that it refuses
)
#: Text in quotes, with backslashes where an E says so, or between dollars. The end may be missing: PostgreSQL cuts what
#: it shows of a long statement.
_QUOTED: Final = re.compile(
    r"\b[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)|'(?:[^']|'')*(?:'|\Z)|\$(\w*)\$.*?(?:\$\1\$|\Z)", re.DOTALL
)
_NUMBER: Final = re.compile(r"(?<![\w$.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_COMMENT: Final = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)


def without_secrets(text: str) -> str:
    """Return the text with every secret of the settings replaced, also as Python or an address would write it."""
    written = {spelling for secret in _secrets() for spelling in _spellings(secret)}
    for secret in sorted(written, key=len, reverse=True):
        text = text.replace(secret, REDACTED)
    return text


def quoted(text: str) -> str:
    """Return the first line of what a server says, as it may be shown: no secrets, no address of a person.

    >>> _by_form("ACL: redis://app:hunter2@cache:6379/0 refused, password=hunter2; mail to ann@example.com")
    'ACL: redis://…@cache:6379/0 refused, password=… mail to …@example.com'
    """
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    printable = "".join(character if character.isprintable() else " " for character in line)
    return _shortened(without_secrets(_by_form(printable)))


def statement_without_values(statement: str) -> str:
    """Return what a session runs, on one line, without the values that stand in it: they may be a customer's.

    >>> statement_without_values("update t1 set note = 'Ann''s', n = -3 /* job 4 */ where sku = 'M-1' and t1.x = 7")
    'update t1 set note = ?, n = ? where sku = ? and t1.x = ?'
    >>> statement_without_values("select E'it\\\\'s', 'cut off")
    'select ?, ?'
    """
    text = _NUMBER.sub("?", _QUOTED.sub("?", _COMMENT.sub(" ", statement)))
    return _shortened(" ".join(text.split()))


def _by_form(text: str) -> str:
    for pattern, replacement in _BY_FORM:
        text = pattern.sub(replacement, text)
    return text


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"


def _spellings(secret: str) -> Iterator[str]:
    yield from (secret, quote(secret, safe=""))
    yield from (repr(secret)[1:-1], repr('"' + secret)[2:-1])  # without and with an escaped apostrophe


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
