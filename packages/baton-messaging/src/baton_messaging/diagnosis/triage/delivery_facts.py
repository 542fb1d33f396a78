"""Facts about one delivery: what each table, the broker and the workers say of one message for one consumer.

None always means: not there. What could not be learnt is noted in ``Facts.broker`` and ``Facts.database``.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from baton_messaging.conf import Team
from baton_messaging.diagnosis.triage.process_facts import InFlight
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.health.locks import LockWait
from baton_messaging.messages.position import Death, Position, position_of
from baton_messaging.recovery.loss_rule import SENT_AGAIN

Where = Literal["queue", "taken", "dead letters"]


@dataclass(frozen=True)
class Future:
    """A future message that has not become a row of the outbox: it waits until ``due_at``, or was cancelled."""

    published_at: datetime
    due_at: datetime
    cancelled_at: datetime | None = None
    cancelled_by: str = ""
    why: str = ""


@dataclass(frozen=True)
class Published:
    """A row of the outbox, as one consumer is concerned. ``ahead_count``: unsent rows before it."""

    occurred_at: datetime
    published_at: datetime | None = None
    is_sent: bool = False
    available_at: datetime | None = None
    refusal: str = ""
    ahead_count: int = 0


@dataclass(frozen=True)
class Processed:
    """A row of the inbox."""

    processed_at: datetime
    duration_ms: int
    worker: str


@dataclass(frozen=True)
class Failed:
    """The last attempt. ``number`` 0: none yet, it was held back or is replayed. ``error_text``: a sentence.

    ``is_transient``: its class says that something outside is not available, and nothing of the message. ``refusal``:
    why the database refused a statement of it, where that is none of the code's doing.
    """

    number: int
    error_class: str
    failed_at: datetime
    due_at: datetime
    sent_at: datetime | None = None
    claimed_until: datetime | None = None
    error_text: str = ""
    is_transient: bool = False
    refusal: Diagnosis | None = None


@dataclass(frozen=True)
class DeadLetterFacts:
    """A dead letter. ``state`` and ``reason`` are those of the model, ``refusal`` is as of an attempt.

    ``is_permanent``: the consumer raised what says that no other attempt will do.
    """

    pk: int
    state: str
    reason: str
    error_class: str
    died_at: datetime
    attempt_count: int
    requested_at: datetime | None = None
    error_text: str = ""
    refusal: Diagnosis | None = None
    is_permanent: bool = False


@dataclass(frozen=True)
class Held:
    """A pause or an open circuit. ``resume`` are the words that end a pause, ``is_transient`` as of an attempt."""

    since: datetime
    by: str = ""
    why: str = ""
    resume: str = ""
    error_class: str = ""
    next_probe_at: datetime | None = None
    is_transient: bool = False

    @property
    def is_pause(self) -> bool:
        """Tell whether a person holds it, rather than a circuit."""
        return bool(self.by)


@dataclass(frozen=True)
class Sighting:
    """The message was seen in the broker. ``ahead_count`` None: it is not known what is before it."""

    where: Where
    ahead_count: int | None = None
    delivery_count: int = 0


@dataclass(frozen=True)
class Work:
    """What an app's own row says of the work of one consumer: a long task outlives its message's transaction.

    ``service``: the health check of the server on which it failed, where that is why.
    """

    state: Literal["waiting", "running", "failed", "done"]
    detail: str = ""
    worker: str = ""
    started_at: datetime | None = None
    lease_expires_at: datetime | None = None
    service: str = ""


@dataclass(frozen=True)
class Limits:
    """What a consumer declares, in seconds."""

    max_attempts: int = 1
    hard_limit_seconds: float = 0
    max_delay_seconds: float = 0


@dataclass(frozen=True)
class Delivery:
    """One message on its way to one consumer."""

    consumer: str
    event: str
    message_id: UUID | None
    queue: str
    owner: Team
    limits: Limits = Limits()
    future: Future | None = None
    published: Published | None = None
    processed: Processed | None = None
    failed: Failed | None = None
    dead_letter: DeadLetterFacts | None = None
    held: Held | None = None
    in_flight: InFlight | None = None
    seen: Sighting | None = None
    work: Work | None = None
    lock: LockWait | None = None  # that the child which runs it waits for

    @property
    def position(self) -> Position:
        """Return how far it got, as the tables tell."""
        return position_of(
            is_processed=self.processed is not None,
            death=Death(self.dead_letter.state, self.dead_letter.requested_at is not None)
            if self.dead_letter
            else None,
            was_last_attempt_sent=self.failed.sent_at is not None if self.failed else None,
            is_sent=self.published.is_sent if self.published else None,
        )

    @property
    def is_with_the_broker(self) -> bool:
        """Tell whether broker and workers have anything to say of it: it left, or was seen there all the same."""
        if self.position in (Position.PROCESSED, Position.DEAD):
            return False
        return self.seen is not None or self.position is Position.WITH_THE_BROKER

    @property
    def was_lost_before(self) -> bool:
        """Tell whether the reconciler has sent it again already."""
        return self.failed is not None and self.failed.error_class == SENT_AGAIN

    @property
    def left_at(self) -> datetime | None:
        """Return when it last left for the broker, None if it never did."""
        if self.failed and self.failed.sent_at:
            return self.failed.sent_at
        if self.published and self.published.is_sent:
            return self.published.published_at or self.published.occurred_at
        return None
