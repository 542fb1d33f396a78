"""Write and delete a row of ``Heartbeat``, each over a connection that is closed at once.

Plain SQL and no model: a worker imports this before Django's models are ready. Ages instead of times: the database's
clock counts, not this machine's.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from baton_messaging.database.dedicated_connection import own_connection

_UPSERT: Final = """
    INSERT INTO baton_heartbeat (
        name, role, hostname, pid, started_at, beaten_at, queues, is_consuming, trouble, capacity, child_count,
        running, reserved, received_count, finished_count, last_received_at, last_finished_at
    )
    SELECT %(name)s, %(role)s, %(hostname)s, %(pid)s, now - %(uptime)s * second, now - %(age)s * second,
        %(queues)s::varchar[], %(is_consuming)s, %(trouble)s, %(capacity)s, %(child_count)s,
        %(running)s::jsonb, %(reserved)s::jsonb, %(received_count)s, %(finished_count)s,
        now - (%(received_age)s::float + %(age)s) * second, now - (%(finished_age)s::float + %(age)s) * second
    FROM (SELECT clock_timestamp() AS now, interval '1 second' AS second) AS clock
    ON CONFLICT (name) DO UPDATE SET
        role = excluded.role, hostname = excluded.hostname, pid = excluded.pid, started_at = excluded.started_at,
        beaten_at = excluded.beaten_at, queues = excluded.queues, is_consuming = excluded.is_consuming,
        trouble = excluded.trouble, capacity = excluded.capacity, child_count = excluded.child_count,
        running = excluded.running, reserved = excluded.reserved,
        received_count = excluded.received_count, finished_count = excluded.finished_count,
        last_received_at = excluded.last_received_at, last_finished_at = excluded.last_finished_at
"""

# Not the row of a successor that has taken the name meanwhile.
_DELETE: Final = "DELETE FROM baton_heartbeat WHERE name = %(name)s AND hostname = %(hostname)s AND pid = %(pid)s"


def upsert(identity: Mapping[str, Any], *, sign: Mapping[str, Any], age: float, uptime: float) -> None:
    """Write what a process said ``age`` seconds ago. Raises the database's errors."""
    lists = {name: json.dumps(sign[name]) for name in ("running", "reserved")}
    with own_connection() as own, own.cursor() as cursor:
        cursor.execute(_UPSERT, {**identity, **sign, **lists, "age": age, "uptime": uptime})


def delete(identity: Mapping[str, Any]) -> None:
    """Delete the row of a process that ends. Raises the database's errors."""
    with own_connection() as own, own.cursor() as cursor:
        cursor.execute(_DELETE, identity)
