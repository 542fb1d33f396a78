"""A process lives if its heartbeat is fresh, whatever its pid; of a worker the broker tells what it leaves (F43).

Dead is only what a restart may heal. So a broker or a database that is away, or does not do its work, makes no process
dead, and neither does work: a busy worker has no room, and what waits then is not held against it. Asked is by what the
work does: a row committed, a message confirmed.
"""

import socket
from dataclasses import dataclass
from typing import Final

from celery import current_app
from django.db import OperationalError

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.database.deadline import Deadline, statements_within
from baton_messaging.health.condition import Condition
from baton_messaging.health.refusals import classify
from baton_messaging.health.role_settings import ending_setting
from baton_messaging.health.run import run_checks
from baton_messaging.health.table_facts import role_without_heartbeats
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Role
from baton_messaging.processes.findings import trouble_of
from baton_messaging.processes.silence import is_gone, is_there, silence_of

#: What a server gets to do a piece of work. Probes of Kubernetes and the like have time-outs of their own.
DEADLINE_SECONDS: Final = 2.0


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
    with statements_within(Deadline.after(DEADLINE_SECONDS)):
        row = _to_be_told(list(rows.order_by("-beaten_at")))
    if row is None or not row.is_fresh:
        return _life_of_silent(what, row)
    if role == Role.WORKER:
        return _life_of_worker(row)
    if not row.is_consuming and (trouble := _said_by(row) or _trouble_of("broker")):
        return Life(True, f"{row.name} is alive and waits for a server, which {trouble}")
    return Life(True, f"{row.name} is alive, {row.age_seconds:.0f} s ago")


def _life_of_silent(what: str, row: Heartbeat | None) -> Life:
    """Tell a process that says nothing from one that cannot write it down."""
    if trouble := _trouble_of("database"):
        return Life(True, f"cannot tell of {what}: no process can write its heartbeat, for the database {trouble}")
    if row is None:
        return Life(False, f"{what} has no heartbeat: it is not started, or was stopped")
    if _is_held(row):
        return Life(True, f"cannot tell of {what}: another session holds its row, so it cannot write its heartbeat")
    age = f"{row.age_seconds:.0f} s"
    if silence := silence_of(row):
        told = f"{row.name} (pid {row.pid}) wrote its last heartbeat {age} ago: {silence.found}"
        return Life(False, told) if silence.is_healed_by_restart else Life(True, f"cannot tell: {told}")
    if not is_gone(row) and (trouble := _trouble_of("broker")):
        return Life(True, f"cannot tell of {row.name}, silent for {age}: it may wait for its broker, which {trouble}")
    return Life(False, f"{row.name} (pid {row.pid}) wrote its last heartbeat {age} ago: it hangs, or was killed")


def _to_be_told(rows: list[Heartbeat]) -> Heartbeat | None:
    """Return the row that the answer is about: of several processes, one that is there and hangs; else the latest."""
    hanging = [row for row in rows if not row.is_fresh and is_there(row)]
    return next(iter([*hanging, *rows]), None)


def _is_held(row: Heartbeat) -> bool:
    """Tell whether something else than its process keeps the row from being written: a forgotten session."""
    try:
        with statements_within(Deadline.after(DEADLINE_SECONDS)):
            list(Heartbeat._base_manager.select_for_update().filter(pk=row.pk))
    except OperationalError:
        return True
    return False


def _life_of_worker(row: Heartbeat) -> Life:
    """Tell a worker that leaves its queues alone from one that has no broker."""
    if row.unconsumed_queues:
        queues = ", ".join(row.unconsumed_queues)
        return Life(False, f"{row.name} no longer consumes {queues}, which its command line names: it was told so")
    if row.is_consuming:
        return Life(True, f"{row.name} is alive, {row.age_seconds:.0f} s ago")
    if own := _said_by(row):
        return Life(True, f"{row.name} is alive and waits for a server, which {own}")
    return _life_of_idle(row)


def _life_of_idle(row: Heartbeat) -> Life:
    """Tell a worker with nothing to take, or nowhere to put it, from one that leaves what waits."""
    try:
        with current_app.connection_for_read() as broker:
            broker.ensure_connection(max_retries=0)
            waiting = sum(depth.waiting for depth in depths(broker, row.queues).values())
    except BROKER_ERRORS as error:
        return Life(True, f"{row.name} is alive and waits for its broker ({classify(error).said})")
    room = row.capacity - sum(len(held) for held in (row.running, row.reserved))
    if not waiting or room <= 0:
        return Life(True, f"{row.name} is alive and has nothing to take")
    if trouble := _trouble_of("broker"):
        return Life(True, f"{row.name} is alive and waits for its broker, which {trouble}")
    queues = ", ".join(row.queues)
    return Life(False, f"{row.name} takes nothing, has room for {room}, and {waiting} messages wait in {queues}")


def _said_by(row: Heartbeat) -> str:
    """Return what a process itself says of the server that it waits for; empty if it says nothing."""
    own = trouble_of(row)
    return f"{_VERBS[Condition(own['condition'])]}: {own['said']}" if own else ""


def _trouble_of(server: str) -> str:
    """Return what keeps a server from its work; empty when it works, or that cannot be asked."""
    (health,) = run_checks([server], deadline_seconds=DEADLINE_SECONDS)
    if health.facts.get("not_heard"):
        return f"could not be heard: {health.said}"
    if setting := ending_setting(health.facts):
        return f"gives no statement its time: {setting}"
    if role := role_without_heartbeats(health.facts):
        return f"lets role {role} write no heartbeat: it lacks the right"
    if health.condition in (Condition.OK, Condition.NOT_KNOWN):
        return ""
    verb = _VERBS[health.condition]
    return f"{verb}: {health.said}" if health.said else verb


_VERBS: Final = {
    Condition.AWAY: "does not answer",
    Condition.REFUSES: "refuses the work",
    Condition.READ_ONLY: "is read-only",
    Condition.FULL: "is full",
    Condition.NOT_PERMITTED: "does not let it in",
    Condition.DIFFERENT: "is not as it is declared here",
}
