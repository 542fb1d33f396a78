"""Processes as facts, by their heartbeats: which live, which have ended, and what each has in flight."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from django.db.models import Q

from baton_messaging.diagnosis.message_states import Place
from baton_messaging.diagnosis.triage.process_facts import InFlight, Process
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Role, Trouble

MAX_ENDED: Final = 100  # processes; the last of a queue or a role is told of
_ROLES: Final = (Role.RELAY, Role.COLLECTOR, Role.BEAT)


def read_processes() -> tuple[tuple[Process, ...], dict[Any, InFlight]]:
    """Return all processes, and which of them has which message in flight (by message id as text, and consumer)."""
    rows = list(Heartbeat.objects.order_by("role", "name"))
    in_flight: dict[Any, InFlight] = {}
    for row in sorted(rows, key=lambda row: row.is_fresh):  # what a living process says wins
        process = _process(row)
        for entry in (*row.reserved, *row.running):
            held = InFlight(process, _time(entry.get("started_at")), entry.get("pid"))
            in_flight.update({(message_id, entry["consumer"]): held for message_id in entry["message_ids"]})
    return tuple(map(_process, rows)), in_flight


def ended_processes(processes: Sequence[Process], queues: Iterable[str]) -> tuple[Process, ...]:
    """Return the processes that ended last, if a queue has no worker at work, or a role no process."""
    at_work = [process for process in processes if process.is_at_work]
    alone = set(queues) - {queue for process in at_work for queue in process.queues}
    missing = {*_ROLES} - {process.role for process in at_work}
    if not alone and not missing:
        return ()
    of_queues = Q(role=Role.WORKER, queues__overlap=list(alone))
    rows = Heartbeat.ended.filter(of_queues | Q(role__in=missing)).order_by("-ended_at")
    return tuple(map(_process, rows[:MAX_ENDED]))


def in_flight_of(place: Place, in_flight: dict[Any, InFlight]) -> InFlight | None:
    """Return which process has the message of a place in flight."""
    message_id, consumer = place
    return in_flight.get((str(message_id), consumer))


def _process(row: Heartbeat) -> Process:
    running: Iterable[Any] = row.running
    return Process(
        name=row.name,
        role=row.role,
        beaten_at=row.beaten_at,
        is_fresh=row.is_fresh,
        is_consuming=row.is_consuming,
        queues=tuple(row.queues),
        running_count=len(list(running)),
        last_finished_at=row.last_finished_at,
        finds_broker_full=row.trouble == Trouble.BROKER_FULL,
        started_at=row.started_at,
        ended_at=row.ended_at,
        ended_by=row.ended_by,
        unconsumed_queues=tuple(row.unconsumed_queues),
        stood_still_at=row.stood_still_at,
        stood_still_seconds=row.stood_still_seconds or 0,
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
