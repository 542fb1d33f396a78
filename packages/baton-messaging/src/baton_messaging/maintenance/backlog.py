"""The backlog is checked before a deploy: what waits, and what of it this code could not run.

    outbox · future messages · retries and what is held · broker queues · dead letters whose replay was requested

A finding is a consumer, an event or a version that this code does not have, or a message that it cannot read. An event
without a consumer is none.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import kombu
from django.db.models import Count
from django.db.models.fields.json import KT
from kombu.message import Message

from baton_messaging.broker.inspect.peek import peek
from baton_messaging.dead_letters.intake.raw_message import Arrival, read
from baton_messaging.errors import BadBundle
from baton_messaging.events import is_known, known_versions
from baton_messaging.messages.bundle import Bundle
from baton_messaging.models import Attempt, DeadLetter, FutureMessage, OutboxMessage
from baton_messaging.models.dead_letter import RELAY, State
from baton_messaging.routing.subscriptions import event_of, is_registered

UNKNOWN_CONSUMER: Final = "unknown consumer"
UNKNOWN_EVENT: Final = "unknown event"
UNKNOWN_VERSION: Final = "unknown version"
UNREADABLE: Final = "unreadable"


@dataclass(frozen=True, order=True)
class Finding:
    """Some messages that this code could not run, and why."""

    where: str
    problem: str
    what: str
    count: int = 0


@dataclass
class Backlog:
    """How many messages were looked at where, and what was found."""

    looked_at: dict[str, int] = field(default_factory=dict)
    cut_short: list[str] = field(default_factory=list)  # queues with more messages than were looked at
    _found: Counter[Finding] = field(default_factory=Counter)

    @property
    def findings(self) -> list[Finding]:
        """Return what was found, in order."""
        return sorted(Finding(one.where, one.problem, one.what, count) for one, count in self._found.items())

    def note(
        self, where: str, *, count: int, consumer: str | None = None, event: tuple[str, int] | None = None
    ) -> None:
        """Look at ``count`` equal messages."""
        self.looked_at[where] = self.looked_at.get(where, 0) + count
        if consumer is not None and consumer != RELAY and not is_registered(consumer):
            self.find(where, UNKNOWN_CONSUMER, consumer, count=count)
        if event is not None:
            self.check_event(where, event, count)

    def find(self, where: str, problem: str, what: str, *, count: int = 1) -> None:
        """Note that some messages cannot be run."""
        self._found[Finding(where, problem, what)] += count

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {
            "runnable": not self._found,
            "looked_at": self.looked_at,
            "cut_short": self.cut_short,
            "findings": [asdict(finding) for finding in self.findings],
        }

    def check_event(self, where: str, event: tuple[str, int], count: int) -> None:
        """Look at an event of ``count`` messages."""
        name, version = event
        if not is_known(name):
            self.find(where, UNKNOWN_EVENT, name, count=count)
        elif version not in known_versions(name):
            self.find(where, UNKNOWN_VERSION, f"{name} version {version}", count=count)


def look_at_database(backlog: Backlog) -> None:
    """Look at all that waits in the database. Four statements, whatever waits."""
    for where in ("outbox", "future messages", "retries", "dead letters"):
        backlog.looked_at[where] = 0
    for where, waiting in (
        ("outbox", OutboxMessage.objects.waiting()),
        ("future messages", FutureMessage.objects.waiting()),
    ):
        for name, version, count in waiting.order_by().values_list("name", "version").annotate(Count("id")):
            backlog.note(where, count=count, event=(name, version))
    for where, rows in (
        ("retries", Attempt.objects.filter(sent_at=None)),
        ("dead letters", DeadLetter.objects.filter(state=State.REQUESTED, envelope__isnull=False)),
    ):
        grouped = rows.order_by().annotate(name=KT("envelope__name"), version=KT("envelope__version"))
        for consumer, name, version, count in grouped.values_list("consumer", "name", "version").annotate(Count("id")):
            backlog.note(where, count=count, consumer=consumer, event=(name or "", int(version or 0)))


def look_at_queue(backlog: Backlog, queue: str, broker: kombu.Connection, *, limit: int) -> None:
    """Look at up to ``limit`` messages of a queue. Raises the connection's errors."""
    where = f"queue {queue}"
    backlog.looked_at[where] = 0
    for number, message in enumerate(peek(broker, queue, limit=limit + 1)):
        if number == limit:
            backlog.cut_short.append(queue)
            return
        _look_at_message(backlog, where, message)


def _look_at_message(backlog: Backlog, where: str, message: Message | None) -> None:
    arrival = read(message) if message is not None else None
    if arrival is None or not arrival.is_task:
        backlog.note(where, count=1)
        backlog.find(where, UNREADABLE, "no task")
        return
    backlog.note(where, count=1, consumer=arrival.consumer)
    for name, version in _events(backlog, where, arrival):
        backlog.check_event(where, (name, version), 1)


def _events(backlog: Backlog, where: str, arrival: Arrival) -> Iterator[tuple[str, int]]:
    try:
        bundle = Bundle.open(arrival.consumer, arrival.argument(), event_name=event_of(arrival.consumer))
    except BadBundle:
        return  # a task that is no consumer: known or not is all there is to say
    for refused in bundle.refused:
        backlog.find(where, UNREADABLE, type(refused.error).__name__)
    yield from ((envelope.name, envelope.version) for envelope in bundle.envelopes)
