"""Lost messages are found: by their position with the broker (messages/position.py), and neither there nor in flight.

Two statements, one over the unsettled outbox rows (a partial index holds nothing else), one over the dead letters whose
replay was requested (another). When a message was last sent is what counts: a retry's row says so, or else the outbox.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from baton_messaging.errors import Undecodable
from baton_messaging.messages.position import LAST_ATTEMPT, REPLAYED_AND_NOT_PROCESSED, SENT_AND_NOT_PROCESSED
from baton_messaging.models import OutboxMessage
from baton_messaging.models.dead_letter import RELAY
from baton_messaging.recovery.loss_rule import Proof, QueueState, grace, proof_of_loss

_NOT_PAUSED: Final = """
    NOT EXISTS (
        SELECT 1 FROM baton_pause AS pause WHERE pause.resumed_at IS NULL AND (
            pause.consumer = %(consumer)s OR (pause.key = {message}.key AND pause.event_name = {message}.{event})))
"""

_OF_OUTBOX: Final = f"""
    SELECT message.*, last.id AS attempt_id, coalesce(last.sent_at, message.published_at) AS last_sent_at
    FROM baton_outbox AS message LEFT JOIN {LAST_ATTEMPT.format(message="message")} ON true
    WHERE message.settled_at IS NULL AND message.published_at < %(sent_before)s
      AND (last.id IS NULL OR last.sent_at < %(sent_before)s)
      AND {SENT_AND_NOT_PROCESSED}
      AND {_NOT_PAUSED.format(message="message", event="name")}
      AND message.message_id <> ALL (%(in_flight)s::uuid[])
    ORDER BY message.published_at LIMIT %(limit)s
"""  # noqa: S608 - put together of the constants above

_OF_REPLAYS: Final = f"""
    SELECT dead_letter.message_id, last.id, last.sent_at
    FROM baton_dead_letter AS dead_letter JOIN {LAST_ATTEMPT.format(message="dead_letter")} ON true
    WHERE last.sent_at < %(sent_before)s
      AND {REPLAYED_AND_NOT_PROCESSED}
      AND {_NOT_PAUSED.format(message="dead_letter", event="event_name")}
      AND dead_letter.message_id <> ALL (%(in_flight)s::uuid[])
    ORDER BY last.sent_at LIMIT %(limit)s
"""  # noqa: S608 - put together of the constants above

_ANY_SUSPECT: Final = """
    SELECT EXISTS (
        SELECT 1 FROM baton_outbox
        WHERE settled_at IS NULL AND published_at < clock_timestamp() - %(grace)s
    ) OR EXISTS (
        SELECT 1 FROM baton_dead_letter
        WHERE state = 'requested' AND requested_at < clock_timestamp() - %(grace)s AND consumer <> %(relay)s
    )
"""


@dataclass(frozen=True)
class Loss:
    """One message that the broker has lost for one consumer, and how it is known."""

    consumer: str
    message_id: UUID
    sent_at: datetime
    proof: Proof
    attempt_id: int | None  # the row of a retry that was on its way; None: it was the first delivery
    key: str = ""
    envelope: dict[str, Any] | None = None  # of a first delivery; empty where its row cannot be read


def is_any_suspect() -> bool:
    """Tell whether anything was sent longer ago than the grace and is not settled."""
    arguments: dict[str, Any] = {"grace": grace(), "relay": RELAY}
    with connection.cursor() as cursor:
        cursor.execute(_ANY_SUSPECT, arguments)
        return bool(cursor.fetchone() == (True,))


def losses_of(consumer: str, state: QueueState, *, in_flight: Collection[UUID], limit: int) -> list[Loss]:
    """Return up to ``limit`` lost messages of a consumer, those sent first first."""
    if state.lost_before is None:
        return []
    arguments: dict[str, Any] = {
        "consumer": consumer,
        "sent_before": state.lost_before,
        "in_flight": list(in_flight),
        "limit": limit,
    }
    found = [_loss(consumer, row, state) for row in OutboxMessage.objects.raw(_OF_OUTBOX, arguments)]
    with connection.cursor() as cursor:
        cursor.execute(_OF_REPLAYS, arguments)
        replays = [
            Loss(consumer, message_id, sent_at, _proof(sent_at, state), attempt_id)
            for message_id, attempt_id, sent_at in cursor.fetchall()
        ]
    return [*found, *replays][:limit]


def _loss(consumer: str, row: Any, state: QueueState) -> Loss:
    return Loss(
        consumer=consumer,
        message_id=row.message_id,
        sent_at=row.last_sent_at,
        proof=_proof(row.last_sent_at, state),
        attempt_id=row.attempt_id,
        key=row.key,
        envelope=None if row.attempt_id else _envelope(row),
    )


def _envelope(row: OutboxMessage) -> dict[str, Any]:
    """Return what leaves again; nothing of a row that cannot be read, which the relay then dead-letters."""
    try:
        return row.envelope().as_dict()
    except Undecodable:
        return {}


def _proof(sent_at: datetime, state: QueueState) -> Proof:
    return proof_of_loss(sent_at, state) or "overtaken"
