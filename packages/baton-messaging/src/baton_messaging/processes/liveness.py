"""A process lives if its heartbeat is fresh, whatever its pid; of a worker the broker tells what it leaves (F43).

Dead is only what a restart may heal. So a broker or a database that is away makes nobody dead, and neither does work:
a busy worker has no room, and what waits then is not held against it.
"""

import socket
from dataclasses import dataclass

from celery import current_app

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.database.errors import takes_writes
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Role


@dataclass(frozen=True)
class Life:
    """Whether a process is alive, and why, in one line."""

    is_alive: bool
    why: str


def life_of(role: str, name: str = "") -> Life:
    """Return whether the process of that role lives: ``name``, or else any of this host. Raises the database's errors.

    A worker's name may leave out the host: ``inventory`` is ``inventory@<this host>``.
    """
    rows = Heartbeat.objects.filter(role=role)
    hostname = socket.gethostname()
    if name:
        what = name if "@" in name else f"{name}@{hostname}"
        rows = rows.filter(name=what)
    else:
        what = f"{role} on {hostname}"
        rows = rows.filter(hostname=hostname)
    row = rows.order_by("-beaten_at").first()
    if not (row and row.is_fresh) and not takes_writes():
        return Life(True, f"cannot tell of {what}: the database takes no writes, so no process can write its heartbeat")
    if row is None:
        return Life(False, f"{what} has no heartbeat: it is not started, or was stopped")
    if not row.is_fresh:
        age = f"{row.age_seconds:.0f} s"
        return Life(False, f"{row.name} wrote its last heartbeat {age} ago: it hangs, or was killed")
    if role == Role.WORKER and not row.is_consuming:
        return _life_of_idle_worker(row)
    return Life(True, f"{row.name} is alive, {row.age_seconds:.0f} s ago")


def _life_of_idle_worker(row: Heartbeat) -> Life:
    """Tell a worker that leaves its queues alone from one that has no broker."""
    try:
        with current_app.connection_for_read() as broker:
            broker.ensure_connection(max_retries=0)
            waiting = sum(depth.waiting for depth in depths(broker, row.queues).values())
    except BROKER_ERRORS as error:
        return Life(True, f"{row.name} is alive and waits for its broker ({type(error).__name__})")
    room = row.capacity - sum(len(held) for held in (row.running, row.reserved))
    if waiting and room > 0:
        queues = ", ".join(row.queues)
        return Life(False, f"{row.name} takes nothing, has room for {room}, and {waiting} messages wait in {queues}")
    return Life(True, f"{row.name} is alive and has nothing to take")
