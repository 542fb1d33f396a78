"""A handler whose time is up may have waited for a foreign session's lock: then nothing is known to have failed.

Asked on another connection, while the limit's grace lasts: the statement that the limit broke off still waits in the
server, which notices a lost client only when it has something to send. That session is ended, so that those of many
deliveries do not pile up. A lock that a worker of this project holds, the handler's own second connection included, is
the apps' business, and counts like any other slowness.

Hazard: of a statement that PostgreSQL itself has broken off (``statement_timeout``, ``lock_timeout``) nothing waits any
more, so it counts. And the name of the connection must tell the process: with another ``application_name`` in the
project's settings nothing is found.
"""

from contextlib import suppress
from typing import Final

import structlog
from django.db import DatabaseError, connection

from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.health.locks import lock_waits

log = structlog.get_logger(__name__)

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
