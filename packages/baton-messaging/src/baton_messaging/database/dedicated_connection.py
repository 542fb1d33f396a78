"""A dedicated connection to the database lives for a moment: for processes that must keep none open.

A worker's main process forks its children, and a connection that is open then would be theirs, too (F21).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

CONNECT_TIMEOUT_SECONDS: Final = 3  # the asking process has a loop to keep turning
SILENCE_TIMEOUT_MS: Final = 5_000  # of the network, after which a server that is cut off counts as away


@contextmanager
def dedicated_connection() -> Iterator[BaseDatabaseWrapper]:
    """Return a new connection, closed at the end. Raises what the server or the network makes of it."""
    own = unopened_connection()
    try:
        yield own
    finally:
        own.close()


def unopened_connection(**options: Any) -> BaseDatabaseWrapper:
    """Return one that is opened at its first use, of no pool; ``options`` of the client come before the project's."""
    own = connection.copy()
    limits = {"connect_timeout": CONNECT_TIMEOUT_SECONDS, "tcp_user_timeout": SILENCE_TIMEOUT_MS}
    own.settings_dict["OPTIONS"] = {**own.settings_dict["OPTIONS"], **limits, **options}
    own.settings_dict["OPTIONS"].pop("pool", None)
    return own
