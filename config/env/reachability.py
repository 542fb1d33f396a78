"""Reachability of servers: one line says which does not answer, under its variable's name; never with a password."""

import socket
from urllib.parse import urlsplit

import kombu
import psycopg
from kombu.exceptions import OperationalError

from config.env import end, env

TIMEOUT_SECONDS = 5
SENTINEL_PORT = 26379


class UnreachableError(ConnectionError):
    """A server does not answer; the message is one line for the person at the keyboard."""


def check_database(url: str) -> None:
    """Log in to PostgreSQL, or raise."""
    try:
        psycopg.connect(url, connect_timeout=TIMEOUT_SECONDS).close()
    except psycopg.OperationalError as error:
        raise UnreachableError(unreachable("DATABASE_URL", url, error)) from None


def check_broker(url: str) -> None:
    """Log in to the broker, or raise. Of sentinels only the first is asked, and only whether it is there."""
    try:
        if url.startswith("sentinel://"):
            node = urlsplit(url.partition(";")[0])
            socket.create_connection((node.hostname, node.port or SENTINEL_PORT), TIMEOUT_SECONDS).close()
        else:
            with kombu.Connection(url, connect_timeout=TIMEOUT_SECONDS) as connection:
                connection.ensure_connection(max_retries=1, timeout=TIMEOUT_SECONDS)
                connection.default_channel  # noqa: B018 - Redis is not spoken to before there is a channel
    except (OSError, OperationalError) as error:
        raise UnreachableError(unreachable("CELERY_BROKER_URL", url, error)) from None


def end_if_unreachable(error: BaseException) -> None:
    """End the process with one line if a query of Django's failed because there was no connection to begin with."""
    cause = error.__cause__
    if isinstance(cause, psycopg.OperationalError) and cause.sqlstate is None:
        end(unreachable("DATABASE_URL", env.DATABASE_URL, cause))


def unreachable(variable: str, url: str, error: BaseException) -> str:
    """Return the line: variable, server, reason, remedy."""
    return (
        f"{variable}: {address(url)} cannot be used ({_reason(url, error)}). Start that server, or correct {variable}."
    )


def address(url: str) -> str:
    """Return the URL without user and password."""
    return ";".join(_without_credentials(node) for node in url.split(";"))


def _without_credentials(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


def _reason(url: str, error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    password = urlsplit(url.partition(";")[0]).password
    return lines[0].replace(password, "…") if password else lines[0]
