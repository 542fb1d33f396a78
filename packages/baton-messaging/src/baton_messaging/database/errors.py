"""Errors of the database tell whether it is away: then nothing is known to have failed, and messages wait or go back.

A server that takes no writes is away as well: in the middle of a failover, a standby answers in place of the one that
is gone. A statement that the server refused (deadlock, lock or statement timeout, a broken query) is no trouble of the
database: in a handler, it is the handler's. In the statements of the messaging itself all but the last say nothing of
the message, and pass when they are repeated. Source: PostgreSQL manual, appendix "Error Codes".
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from baton_messaging.conf import baton
from baton_messaging.database.dedicated_connection import dedicated_connection

_READ_ONLY = "25006"  # read_only_sql_transaction
_CANCELLED = "57014"  # query_canceled: by statement_timeout, which ends the wait for a lock, too

_AWAY = {
    "57P01",  # admin_shutdown
    "57P02",  # crash_shutdown
    "57P03",  # cannot_connect_now
    "57P05",  # idle_session_timeout
    "53300",  # too_many_connections
}
_IN_THE_WAY = {
    "40P01",  # deadlock_detected
    "40001",  # serialization_failure
    "55P03",  # lock_not_available
    _CANCELLED,
}
_NOT_SET_UP = {
    "42501",  # insufficient_privilege
    "42703",  # undefined_column
    "42P01",  # undefined_table
    "3F000",  # invalid_schema_name
}
_SHORT_OF = {
    "53",  # insufficient resources: disk, memory
    "58",  # errors of the system below the server
}


class MessagingStatementRefused(OperationalError):
    """What passes kept a statement of the messaging itself from being run. Nothing is known to have failed."""


def is_database_trouble(error: BaseException) -> bool:
    """Tell whether what ended a delivery says nothing of the message, nor of its handler."""
    return isinstance(error, MessagingStatementRefused) or is_database_away(error)


@contextmanager
def messaging_statements() -> Iterator[None]:
    """Around what is ours among a handler's statements. Raises MessagingStatementRefused for what passes."""
    try:
        yield
    except DatabaseError as error:
        if not is_passing(error):
            raise
        raise MessagingStatementRefused from error.__cause__ or error


def is_database_away(error: BaseException) -> bool:
    """Tell whether ``error`` means that the server cannot be reached, rather than that it refused a statement."""
    if not isinstance(error, DatabaseError | InterfaceError):
        return False
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    if sqlstate is None:  # raised by the client side: no connection, or it broke
        return isinstance(error, InterfaceError | OperationalError) or _was_lost_in_transaction(error)
    if sqlstate == _READ_ONLY:
        return _was_server_read_only(error.__cause__)
    return sqlstate in _AWAY or sqlstate.startswith("08")


def _was_lost_in_transaction(error: BaseException) -> bool:
    """Recognise what Django says of each statement after the connection of a transaction was lost (base.connect)."""
    return error.__cause__ is None and str(error) == "Cannot open a new connection in an atomic block."


def is_passing(error: BaseException) -> bool:
    """Tell whether ``error`` says nothing of the statement, only of the moment: away, or in the way of others.

    A migration that locks one table after another, for one, gets into a deadlock with whoever reads two of them.
    """
    sqlstate = getattr(error.__cause__, "sqlstate", None) or ""
    return is_database_away(error) or sqlstate in _IN_THE_WAY or sqlstate[:2] in _SHORT_OF


def is_not_set_up(error: BaseException) -> bool:
    """Tell whether a right, a table or a column is missing: a grant or a migration mends that, no restart does."""
    return isinstance(error, DatabaseError) and getattr(error.__cause__, "sqlstate", None) in _NOT_SET_UP


def is_short_of(error: BaseException) -> bool:
    """Tell whether the server lacked disk, memory or what the system below it gives: no fault of who asked."""
    sqlstate = getattr(error.__cause__, "sqlstate", None) or ""
    return isinstance(error, DatabaseError) and sqlstate[:2] in _SHORT_OF


def was_cancelled(error: BaseException) -> bool:
    """Tell whether a statement took longer than it may: one that always does passes only where it waited for others."""
    return getattr(error.__cause__, "sqlstate", None) == _CANCELLED


def wait_for_database() -> bool:
    """Drop the broken connection and wait DATABASE_WAIT_SECONDS for a server that takes writes. Tell whether."""
    wait_seconds: float = baton().database_wait_seconds
    deadline = time.monotonic() + wait_seconds
    while True:
        connection.close()
        if _answers():
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(random.uniform(0.2, 1.0))  # noqa: S311 - spreads reconnects, guards nothing


def is_database_there() -> bool:
    """Drop the broken connection and ask once, on another: for whoever has only seconds left."""
    connection.close()
    with dedicated_connection() as own:
        return _answers(own)


def takes_writes(asked: Any = connection) -> bool:
    """Ask the server whether it does. Raises what keeps it from answering."""
    with asked.cursor() as cursor:
        cursor.execute("SELECT current_setting('transaction_read_only') = 'off'")
        return bool(cursor.fetchone() == (True,))


def _answers(asked: Any = connection) -> bool:
    try:
        return takes_writes(asked)
    except DatabaseError:
        return False


def _was_server_read_only(refusal: Any) -> bool:
    """Tell a standby from a transaction that a handler has made read-only itself, by asking on another connection.

    Once for each refusal: at the second question the failover may be over, and the handler would be blamed for it.
    """
    if not hasattr(refusal, "was_server_read_only"):
        with dedicated_connection() as own:
            refusal.was_server_read_only = not _answers(own)
    return bool(refusal.was_server_read_only)
