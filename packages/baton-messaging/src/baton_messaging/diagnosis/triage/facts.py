"""Facts about some messages at one moment, and what could not be learnt: the input of the judge.

Everything is as of ``Facts.now``, the database's clock, so that a worker or a web process whose clock is off does not
change the answer. None always means: not there. What is not *known* is told by ``broker`` and ``database``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from baton_messaging.conf import Team
from baton_messaging.diagnosis.triage.delivery_facts import Delivery, Work
from baton_messaging.diagnosis.triage.process_facts import Process
from baton_messaging.health.diagnosis import Confidence, Diagnosis
from baton_messaging.health.locks import Session
from baton_messaging.health.resource import Resource
from baton_messaging.recovery.findings import Contradiction


@dataclass(frozen=True)
class Reach:
    """Whether a server answered, and if not, the error that came instead.

    ``confidence`` that it is the server's doing: SURE where it said so itself, LIKELY where it was silent, OPEN where
    this process had no time to hear an answer. ``locked``: a table, and who holds it. ``cause``: what doctor would say.
    """

    answers: bool = True
    error: str = ""
    confidence: Confidence = Confidence.SURE
    locked: tuple[str, Session] | None = None
    cause: Diagnosis | None = None

    @property
    def is_to_blame(self) -> bool:
        """Tell whether what was not answered is held against the server."""
        return not self.answers and self.confidence is not Confidence.OPEN


ANSWERS = Reach()


@dataclass(frozen=True)
class QueueSnapshot:
    """What the broker says of one queue. ``is_complete``: it was read, and a message that was not seen is not in it.

    ``taken_count`` and ``consumer_count`` None: this broker does not tell what was taken, or how many are connected.
    ``served_until``: as in the reconciler's QueueState; None also where it was not needed.
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
class Facts:
    """All of it. ``causes``: what is wrong with the installation, whether or not it stops work.

    ``needs``: what single consumers depend on.
    """

    now: datetime
    platform: Team
    key: str = ""
    events: frozenset[str] = frozenset()  # that the outbox has of the key
    later: tuple[tuple[str, datetime], ...] = ()  # events of the key that will follow, and when
    subjects: tuple[Subject, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    processes: tuple[Process, ...] = ()
    ended: tuple[Process, ...] = ()  # that said how they ended, the last first; read where none of the kind is at work
    queues: Mapping[str, QueueSnapshot] = field(default_factory=dict)
    owners: Mapping[str, Team] = field(default_factory=dict)  # of queues and of apps' first queue
    platform_queue: str = ""  # through which the scheduled tasks go
    retention_seconds: float = 0
    is_broker_full: bool = False
    broker: Reach = ANSWERS
    database: Reach = ANSWERS
    causes: tuple[Diagnosis, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()  # between what the rows say and what there is
    checked_consumers: frozenset[str] = frozenset()  # whose effect was looked for
    needs: Mapping[Resource, Sequence[Resource]] = field(default_factory=dict)
    guards: tuple[Diagnosis, ...] = ()  # what stands before an app's tables, and may keep rows from them

    def of_role(self, role: str) -> list[Process]:
        """Return the processes of a role."""
        return [process for process in self.processes if process.role == role]

    def last_of_role(self, role: str) -> Process | None:
        """Return the last process of a role that has ended, if none fell silent after it."""
        ended = next((process for process in self.ended if process.role == role), None)
        silent = max((process.seen_at for process in self.of_role(role)), default=None)
        return ended if ended and (silent is None or ended.seen_at > silent) else None

    def consumers_of(self, queue: str) -> list[Process]:
        """Return the workers of a queue, dead or alive."""
        return [process for process in self.processes if queue in process.queues]
