"""Who lives and what each has in hand: the heartbeats, as facts."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from baton_messaging.diagnosis.message_states import Place
from baton_messaging.diagnosis.triage.facts import InHand, Process
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Trouble


def look_at_processes() -> tuple[tuple[Process, ...], dict[Any, InHand]]:
    """Return all processes, and who has which message (by message id as text and consumer) in hand."""
    rows = list(Heartbeat.objects.order_by("role", "name"))
    in_flight: dict[Any, InHand] = {}
    for row in sorted(rows, key=lambda row: row.is_fresh):  # what a living process says wins
        process = _process(row)
        for entry in (*row.reserved, *row.running):
            hand = InHand(process, _time(entry.get("started_at")))
            in_flight.update({(message_id, entry["consumer"]): hand for message_id in entry["message_ids"]})
    return tuple(map(_process, rows)), in_flight


def hand_on(place: Place, in_flight: dict[Any, InHand]) -> InHand | None:
    """Return who has the message of a place in hand."""
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
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
