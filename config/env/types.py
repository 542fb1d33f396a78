"""What the value of a variable may be: a URL of certain kinds, a port, a list, an address.

Each raises ValueError with what was expected, never with the value: many of them hold a password.
"""

import re
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from config.mail.url import mail_settings

PROJECT_DIR = Path(__file__).resolve().parents[2]

DATABASE_SCHEMES = ("postgres", "postgresql")
BROKER_SCHEMES = ("redis", "rediss", "sentinel", "amqp", "amqps")
# A name, with a dot before it for all names below; or an IPv4 address, or an IPv6 address in brackets.
_HOST_NAME = re.compile(r"\.?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]", re.ASCII)
_ORIGIN = re.compile(r"(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?(:\d{1,5})?", re.ASCII)
MIN_TOKEN_LENGTH = 20  # characters: random ones cannot be guessed over HTTP


def _split(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _url_with(schemes: tuple[str, ...], example: str) -> AfterValidator:
    def check(url: str) -> str:
        if url and urlsplit(url).scheme not in schemes:
            raise ValueError(f"expected a URL that begins with {', '.join(f'{name}://' for name in schemes)}")
        for node in url.split(";"):
            if not _has_valid_port(node):
                raise ValueError(f"expected a port between 1 and 65535 in the URL, as in {example}")
        return url

    return AfterValidator(check)


def _has_valid_port(url: str) -> bool:
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def _database_has_name(url: str) -> str:
    if not urlsplit(url).path.strip("/"):
        raise ValueError("expected the name of a database at the end, as in postgres://user:password@host:5432/baton")
    return url


def _mail_url(url: str) -> str:
    mail_settings(url, default_folder=PROJECT_DIR)
    return url


def _sender(value: str) -> str:
    local_part, _, domain = parseaddr(value)[1].rpartition("@")
    if not local_part or not domain or not value.isprintable():
        raise ValueError("expected an address, as in shop@example.com or Baton Shop <shop@example.com>")
    return value


def _user_and_password(value: str) -> str:
    for pair in filter(None, value.split(",")):
        user, _, password = pair.partition(":")
        if not user or not password:
            raise ValueError("expected user:password")
    return value


def _token(value: str) -> str:
    if value and (len(value) < MIN_TOKEN_LENGTH or not value.isascii() or " " in value):
        raise ValueError(f"expected {MIN_TOKEN_LENGTH} characters or more, without blanks")
    return value


def _host_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name != "*" and not _HOST_NAME.fullmatch(name):
            raise ValueError(
                "expected names of hosts without scheme, port and path, as in shop.example.com; "
                ".example.com stands for all names below it"
            )
    return names


def _origins(addresses: tuple[str, ...]) -> tuple[str, ...]:
    for address in addresses:
        scheme, _, rest = address.partition("://")
        if scheme not in ("http", "https") or not _ORIGIN.fullmatch(rest):
            raise ValueError("expected origins without a path, as in https://shop.example.com or https://*.example.com")
    return addresses


def _in_project(path: Path) -> Path:
    return PROJECT_DIR / path.expanduser()


List = Annotated[tuple[str, ...], BeforeValidator(_split)]
HostNames = Annotated[List, AfterValidator(_host_names)]
Origins = Annotated[List, AfterValidator(_origins)]
Port = Annotated[int, Field(ge=1, le=65535)]
OptionalPort = Annotated[Port | None, BeforeValidator(lambda value: value or None)]
DatabaseUrl = Annotated[
    str, _url_with(DATABASE_SCHEMES, "postgres://host:5432/baton"), AfterValidator(_database_has_name)
]
BrokerUrl = Annotated[str, _url_with(BROKER_SCHEMES, "redis://host:6379/0")]
PublicUrl = Annotated[str, _url_with(("http", "https"), "https://shop.example.com")]
MailUrl = Annotated[str, AfterValidator(_mail_url)]
Sender = Annotated[str, AfterValidator(_sender)]
Credentials = Annotated[str, AfterValidator(_user_and_password)]
Token = Annotated[str, AfterValidator(_token)]
PathInProject = Annotated[Path, AfterValidator(_in_project)]
