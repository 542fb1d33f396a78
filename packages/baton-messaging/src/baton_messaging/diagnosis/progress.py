"""Progress of an aggregate's messages: how far each got with each consumer.

Six queries, however many messages there are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis.message_states import MessageStates, Place, Standing
from baton_messaging.flow_control.holds import Hold, Holds
from baton_messaging.messages.position import Position
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import State as LetterState
from baton_messaging.routing.ownership import owner_of
from baton_messaging.routing.subscriptions import Subscription, subscriptions_of

State = Literal["waiting", "queued", "retrying", "done", "dead"]
SETTLED: frozenset[State] = frozenset({"done", "dead"})
#: The states in words, in the reader's language.
STATE_TEXTS: Final[Mapping[State, Promise]] = {
    "waiting": _("waiting to be sent"),
    "queued": _("in the queue"),
    "retrying": _("will be tried again"),
    "done": _("done"),
    "dead": _("dead"),
}


@dataclass(frozen=True)
class ConsumerProgress:
    """One consumer's progress with one message. ``attempts`` counts those that ended, failed or not."""

    consumer: str
    event: str
    message_id: UUID
    state: State
    attempts: int
    max_attempts: int
    owner: str
    updated_at: datetime
    next_attempt_at: datetime | None = None
    error: str | None = None

    @property
    def is_settled(self) -> bool:
        """Tell whether nothing more happens by itself."""
        return self.state in SETTLED


def progress_of(key: str) -> list[ConsumerProgress]:
    """Return the progress of every message about the aggregate ``key``, oldest message first.

    A message that has left the outbox by retention is not listed.
    """
    messages = list(OutboxMessage.objects.filter(key=key).order_by("pk"))
    states = MessageStates([key], [message.message_id for message in messages])
    return [
        _progress(message, subscription, states)
        for message in messages
        for subscription in subscriptions_of(message.name)
        if message.is_for(subscription.consumer)
    ]


def _progress(message: OutboxMessage, subscription: Subscription, states: MessageStates) -> ConsumerProgress:
    standing = states.at((message.message_id, subscription.consumer), message)
    state = state_at(standing)
    last_attempt, dead_letter = standing.last_attempt, standing.dead_letter
    hold = _hold(state, message, standing.place, states.holds)
    failed_count = last_attempt.attempt if last_attempt else 0
    return ConsumerProgress(
        consumer=subscription.consumer,
        event=message.name,
        message_id=message.message_id,
        state=state,
        attempts=dead_letter.attempt_count if state == "dead" and dead_letter else failed_count + (state == "done"),
        max_attempts=subscription.max_attempts,
        owner=str(owner_of(subscription.consumer)),
        updated_at=_updated_at(message, standing),
        next_attempt_at=last_attempt.due_at if state == "retrying" and last_attempt and not hold else None,
        error=str(hold) if hold else _error(state, last_attempt, dead_letter),
    )


def state_at(standing: Standing) -> State:
    """Return the state by which customers and the API know a position."""
    match standing.position:
        case Position.PROCESSED:
            return "done"
        case Position.DEAD:
            return "dead"
        case Position.WITH_THE_BROKER:
            return "queued"
        case Position.WAITS_IN_DATABASE if not _was_never_tried(standing.last_attempt):
            return "retrying"
        case _:
            return "waiting"


def _was_never_tried(last_attempt: Attempt | None) -> bool:
    """Tell whether it was held back before its first attempt."""
    return last_attempt is not None and last_attempt.round == last_attempt.attempt == 0


def _updated_at(message: OutboxMessage, standing: Standing) -> datetime:
    """Return when it came to where it is."""
    processed, last_attempt, dead_letter = standing.processed, standing.last_attempt, standing.dead_letter
    match standing.position:
        case Position.PROCESSED if processed:
            return processed.processed_at
        case Position.PROCESSED | Position.DEAD | Position.REPLAY_PLANNED if dead_letter:
            return dead_letter.settled_at or dead_letter.died_at
        case Position.WITH_THE_BROKER | Position.WAITS_IN_DATABASE if last_attempt:
            return last_attempt.sent_at or last_attempt.failed_at
        case Position.WITH_THE_BROKER:
            return message.published_at or message.available_at
        case _:
            return message.occurred_at


def _hold(state: State, message: OutboxMessage, place: Place, holds: Holds) -> Hold | None:
    """Return what holds the message back. What is in flight, or on its way to a worker, is parked when it arrives."""
    if state in SETTLED:
        return None
    message_id, consumer = place
    return holds.on(consumer, event_name=message.name, key=message.key, message_id=message_id)


def _error(state: State, last_attempt: Attempt | None, dead_letter: DeadLetter | None) -> str | None:
    """Return the class of the last error while it matters; its text may hold more than a customer should read."""
    if state == "dead" and dead_letter:
        what = (
            dead_letter.get_state_display()
            if dead_letter.state == LetterState.DISCARDED
            else dead_letter.get_reason_display()
        )
        return f"{what}: {dead_letter.error_class}"
    if state == "retrying" and last_attempt:
        return last_attempt.error_class
    return None
