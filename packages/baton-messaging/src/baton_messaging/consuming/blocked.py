"""A handler whose time is up may have waited for a foreign session's lock: then nothing is known to have failed.

Asked on another connection, while the limit's grace lasts: the statement that the limit broke off still waits in the
server, which notices a lost client only when it has something to send. That session is ended, so that those of many
deliveries do not pile up. A lock that a worker of this project holds, the handler's own second connection included, is
the apps' business, and counts like any other slowness.

Of a statement that PostgreSQL itself has broken off (``lock_timeout``, ``statement_timeout``) nothing waits any more.
But it says which table's row it waited for, and a foreign session that has locks there and does nothing is why.

Hazard: the name of the connection must tell the process: where a proxy takes it away nothing is found.
"""

import re
from contextlib import suppress
from typing import Final

import structlog
from django.db import DatabaseError, connection

from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.health.locks import idle_holder, lock_waits

log = structlog.get_logger(__name__)

_BROKEN_OFF: Final = ("55P03", "57014")  # lock_not_available, query_canceled
# "while updating tuple (0,1) in relation "inventory_stockitem"": said of a row lock, in the server's language.
_RELATION: Final = re.compile(r"\(\d+,\d+\)[^\"«„「]*[\"«„「]\s*([^\"»“」]+?)\s*[\"»“」]")
WORKERS: Final = "baton worker "
MAX_NAME_BYTES: Final = 63  # PostgreSQL cuts what is longer


def was_blocked() -> bool:
    """Tell whether a session that is no worker's kept this process waiting, and end the wait. Raises nothing."""
    name = connection.settings_dict["OPTIONS"].get("application_name", "")[:MAX_NAME_BYTES]
    if WORKERS not in name:
        return False
    with suppress(DatabaseError), dedicated_connection() as own, own.cursor() as cursor:
        waits = [wait for wait in lock_waits(own, min_seconds=0) if wait.application == name]
        for wait in waits:
            cursor.execute("SELECT pg_terminate_backend(%s)", [wait.pid])
        foreign = [wait.holder for wait in waits if WORKERS not in wait.holder.application]
        for holder in foreign:
            log.warning("blocked_by_session", pid=holder.pid, application=holder.application, state=holder.state)
        return bool(foreign)
    return False


def was_kept_out(error: BaseException) -> bool:
    """Tell whether PostgreSQL broke off a statement that waited for a row which a foreign, idle session has locked."""
    refusal = error.__cause__ if isinstance(error, DatabaseError) else None
    if getattr(refusal, "sqlstate", None) not in _BROKEN_OFF:
        return False
    told = _RELATION.search(getattr(getattr(refusal, "diag", None), "context", None) or "")
    if told is None:
        return False
    with suppress(DatabaseError), dedicated_connection() as own:
        holder = idle_holder(told[1], own)
        if holder and WORKERS not in holder.application:
            log.warning("blocked_by_session", pid=holder.pid, application=holder.application, state=holder.state)
            return True
    return False
