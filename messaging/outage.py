"""Is the database away? Then nothing is known to have failed: wait for it, or hand the message back unchanged.

A statement that the server refused (deadlock, lock timeout, a broken query) is not an outage: in a handler, it is the
handler's. In the statements of the messaging itself the first two are nobody's, and pass when they are repeated.
Source: PostgreSQL manual, appendix "Error Codes".
"""

import random
import time

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

_AWAY = {
    "57P01",  # admin_shutdown
    "57P02",  # crash_shutdown
    "57P03",  # cannot_connect_now
    "57P05",  # idle_session_timeout
    "25P03",  # idle_in_transaction_session_timeout
    "25006",  # read_only_sql_transaction: a standby, in the middle of a failover
    "53300",  # too_many_connections
}

_IN_THE_WAY = {
    "40P01",  # deadlock_detected
    "40001",  # serialization_failure
    "55P03",  # lock_not_available
}
_SHORT_OF = {
    "53",  # insufficient resources: disk, memory
    "58",  # errors of the system below the server
}


def is_database_away(error: BaseException) -> bool:
    """Tell whether ``error`` means that the server cannot be reached, rather than that it refused a statement."""
    if not isinstance(error, InterfaceError | OperationalError):
        return False
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    if sqlstate is None:
        return True  # raised by the client side: no connection, or it broke
    return sqlstate in _AWAY or sqlstate.startswith("08")


def is_passing(error: BaseException) -> bool:
    """Tell whether ``error`` says nothing of the statement, only of the moment: away, or in the way of others.

    A migration that locks one table after another, for one, gets into a deadlock with whoever reads two of them.
    """
    sqlstate = getattr(error.__cause__, "sqlstate", None) or ""
    return is_database_away(error) or sqlstate in _IN_THE_WAY or sqlstate[:2] in _SHORT_OF


def wait_for_database() -> bool:
    """Drop the broken connection and wait until the server answers, at most DATABASE_WAIT_SECONDS; tell whether."""
    wait_seconds: float = settings.MESSAGING["DATABASE_WAIT_SECONDS"]
    deadline = time.monotonic() + wait_seconds
    while True:
        connection.close()
        if _answers():
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(random.uniform(0.2, 1.0))  # noqa: S311 - spreads reconnects, guards nothing


def _answers() -> bool:
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True
