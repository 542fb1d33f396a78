"""What is known of some messages at one moment, and what could not be learnt: the input of judging.

Everything is as of ``Facts.now``, the database's clock, so that a worker or a web process whose clock is off does not
change the answer. None always means: not there. What is not *known* is told by ``broker`` and ``database``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from baton_messaging.conf import Team

Where = Literal["queue", "taken", "dead letters"]


@dataclass(frozen=True)
class Reach:
    """Whether somebody answered, and if not, what came instead."""

    answers: bool = True
    error: str = ""


ANSWERS = Reach()
TAKES_NO_WRITES = "TakesNoWrites"  # the database answers as a standby does: nobody can do anything, or say so


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
    """The last attempt. ``number`` 0: none yet, it was held back or is replayed."""

    number: int
    error_class: str
    failed_at: datetime
    due_at: datetime
    sent_at: datetime | None = None
    claimed_until: datetime | None = None


@dataclass(frozen=True)
class Letter:
    """A dead letter. ``state`` and ``reason`` are those of the model."""

    pk: int
    state: str
    reason: str
    error_class: str
    died_at: datetime
    attempt_count: int
    requested_at: datetime | None = None


@dataclass(frozen=True)
class Held:
    """A pause or an open circuit. ``resume`` are the words that end a pause."""

    since: datetime
    by: str = ""
    why: str = ""
    resume: str = ""
    error_class: str = ""
    next_trial_at: datetime | None = None

    @property
    def is_pause(self) -> bool:
        """Tell whether a person holds it, rather than a circuit."""
        return bool(self.by)


@dataclass(frozen=True)
class Process:
    """A relay, collector, beat or worker, by its heartbeat."""

    name: str
    role: str
    beaten_at: datetime
    is_fresh: bool
    is_consuming: bool
    queues: tuple[str, ...] = ()
    running_count: int = 0
    last_finished_at: datetime | None = None
    finds_broker_full: bool = False

    @property
    def is_at_work(self) -> bool:
        """Tell whether it lives and does what it is for."""
        return self.is_fresh and self.is_consuming


@dataclass(frozen=True)
class InHand:
    """A worker says that it has the message; ``started_at`` None: not started yet."""

    process: Process
    started_at: datetime | None


@dataclass(frozen=True)
class Sighting:
    """The message was seen in the broker. ``ahead_count`` None: it is not known what is before it."""

    where: Where
    ahead_count: int | None = None
    delivery_count: int = 0


@dataclass(frozen=True)
class QueueLook:
    """What the broker says of one queue. ``is_complete``: it was read, and a message that was not seen is not in it.

    ``taken_count`` and ``consumer_count`` None: this broker does not tell what was taken, or who is connected.
    ``served_until``: as in the reconciler's QueueState; None also where nobody had a reason to ask.
    """

    waiting_count: int
    is_complete: bool = False
    taken_count: int | None = None
    consumer_count: int | None = None
    served_until: datetime | None = None

    @property
    def total_count(self) -> int:
        """Return how many it holds, as far as the broker tells."""
        return self.waiting_count + (self.taken_count or 0)


@dataclass(frozen=True)
class Work:
    """What an app's own row says of the work of one consumer: a long task outlives its message's transaction."""

    state: Literal["waiting", "running", "failed", "done"]
    detail: str = ""
    worker: str = ""
    started_at: datetime | None = None
    lease_expires_at: datetime | None = None


@dataclass(frozen=True)
class Subject:
    """What an app says an id is. ``awaited``: events of which one must still come for it to be settled."""

    kind: str
    key: str
    queue: str
    first_event: str
    exists: bool = True
    created_at: datetime | None = None
    is_settled: bool = False
    status: str = ""
    awaited: tuple[str, ...] = ()
    works: Mapping[str, Work] = field(default_factory=dict)


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
    published: Published | None = None
    processed: Processed | None = None
    failed: Failed | None = None
    letter: Letter | None = None
    held: Held | None = None
    in_flight: InHand | None = None
    seen: Sighting | None = None
    work: Work | None = None

    @property
    def left_at(self) -> datetime | None:
        """Return when it last left for the broker, None if it never did."""
        if self.failed and self.failed.sent_at:
            return self.failed.sent_at
        if self.published and self.published.is_sent:
            return self.published.published_at or self.published.occurred_at
        return None


@dataclass(frozen=True)
class Facts:
    """All of it."""

    now: datetime
    platform: Team
    key: str = ""
    events: frozenset[str] = frozenset()  # that the outbox has of the key
    subjects: tuple[Subject, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    processes: tuple[Process, ...] = ()
    queues: Mapping[str, QueueLook] = field(default_factory=dict)
    owners: Mapping[str, Team] = field(default_factory=dict)  # of queues and of apps' first queue
    platform_queue: str = ""  # through which the scheduled tasks go
    retention_seconds: float = 0
    is_broker_full: bool = False
    broker: Reach = ANSWERS
    database: Reach = ANSWERS

    def of_role(self, role: str) -> list[Process]:
        """Return the processes of a role."""
        return [process for process in self.processes if process.role == role]

    def consumers_of(self, queue: str) -> list[Process]:
        """Return the workers of a queue, dead or alive."""
        return [process for process in self.processes if queue in process.queues]
