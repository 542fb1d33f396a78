"""Message states: what inbox, retries, dead letters, pauses and circuits say of some messages. Five queries in all.

A place is one message and one consumer. Where an edited copy was sent instead of a dead letter, its place counts.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.db.models import Q

from baton_messaging.flow_control.holds import current_holds
from baton_messaging.messages.position import Death, Position, position_of
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import UNSETTLED

Place = tuple[UUID, str]
Row = TypeVar("Row", ProcessedMessage, Attempt, DeadLetter)


@dataclass(frozen=True)
class Standing:
    """The rows about one place, and what they come to. ``place`` is the edited copy's, if one was sent instead."""

    place: Place
    position: Position
    processed: ProcessedMessage | None
    last_attempt: Attempt | None
    dead_letter: DeadLetter | None


class MessageStates:
    """The rows about some messages, read when it is made."""

    def __init__(self, keys: Collection[str], message_ids: Collection[UUID]) -> None:
        dead_letters = list(
            DeadLetter.objects.filter(Q(key__any_of=keys) | Q(message_id__any_of=message_ids)).order_by("pk")
        )
        self._copies = {row.copy_of_id: row for row in dead_letters if row.copy_of_id}
        self.dead_letters = _by_place(sorted(dead_letters, key=lambda row: (row.state in UNSETTLED, row.pk)))
        wanted = [*message_ids, *(copy.message_id for copy in self._copies.values() if copy.message_id)]
        self.processed = _by_place(ProcessedMessage.objects.filter(message_id__any_of=wanted))
        self.holds = current_holds()
        self.last_attempt = _by_place(Attempt.objects.filter(message_id__any_of=wanted).order_by("round", "attempt"))

    def at(self, place: Place, row: OutboxMessage | None) -> Standing:
        """Return where a message stands, or the edited copy that was sent in its place."""
        dead_letter = self.dead_letters.get(place)
        while dead_letter and (copy := self._copies.get(dead_letter.pk)) and copy.message_id:
            dead_letter, place = copy, (copy.message_id, copy.consumer)
        processed, last_attempt = self.processed.get(place), self.last_attempt.get(place)
        position = position_of(
            is_processed=processed is not None,
            death=_death(dead_letter),
            was_last_attempt_sent=last_attempt.sent_at is not None if last_attempt else None,
            is_sent=row.is_sent_to(place[1]) if row else None,
        )
        return Standing(place, position, processed, last_attempt, dead_letter)


def _death(dead_letter: DeadLetter | None) -> Death | None:
    return Death(dead_letter.state, dead_letter.requested_at is not None) if dead_letter else None


def _by_place(rows: "Iterable[Row]") -> "dict[Place, Row]":
    return {(row.message_id, row.consumer): row for row in rows if row.message_id is not None}
