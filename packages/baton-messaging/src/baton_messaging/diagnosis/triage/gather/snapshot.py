"""A snapshot of broker and tables: taken once for all lookups, the broker first.

The order matters: a message is committed before it is acknowledged, so one that was in no queue when the broker was
lookup, and is in no table afterwards, is nowhere.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any, Final
from uuid import UUID

from django.db import connection

from baton_messaging.broker.inspect.find import Find
from baton_messaging.conf import baton
from baton_messaging.diagnosis.message_states import MessageStates, Place
from baton_messaging.diagnosis.triage.facts import QueueSnapshot
from baton_messaging.diagnosis.triage.gather.processes import ended_processes, read_processes
from baton_messaging.diagnosis.triage.gather.servers import ServersSnapshot, ask_servers
from baton_messaging.diagnosis.triage.lookup import Lookup
from baton_messaging.diagnosis.triage.process_facts import InFlight, Process
from baton_messaging.diagnosis.why_dead import why_dead
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.health.locks import LockWait, lock_waits
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import State
from baton_messaging.recovery.loss_rule import MARGIN
from baton_messaging.recovery.queue_states import served_until
from baton_messaging.routing.ownership import queue_name_of
from baton_messaging.routing.subscriptions import subscriptions_of

MAX_COUNTED: Final = 10_000  # rows of the outbox before one; beyond that the figure means "at least"

_COUNT_AHEAD: Final = """
    SELECT count(*) FROM (
        SELECT 1 FROM baton_outbox WHERE published_at IS NULL AND id < %s LIMIT %s
    ) AS ahead
"""


@dataclass(frozen=True)
class Snapshot:
    """What broker and tables said. ``ahead`` counts the unsent rows before each unsent row that was asked for.

    ``served_until`` is read only if a message may have been overtaken: it reads the newest rows of the inbox.
    """

    now: datetime
    servers: ServersSnapshot
    states: MessageStates
    processes: tuple[Process, ...]
    in_flight: dict[Any, InFlight]
    ahead: dict[int, int]
    served_until: dict[str, datetime]
    lock_waits: tuple[LockWait, ...] = ()
    ended: tuple[Process, ...] = ()
    _refusals: dict[tuple[str, str, str, str], Diagnosis | None] = field(default_factory=dict)

    def refusal_of(self, row: Attempt | DeadLetter) -> Diagnosis | None:
        """Return why it failed where that is not its own fault; asked once of all that failed alike."""
        reason = row.reason if isinstance(row, DeadLetter) else ""
        error = row.consumer, str(reason), row.error_class, row.error_message
        if error not in self._refusals:
            self._refusals[error] = why_dead(*error)
        return self._refusals[error]

    @property
    def is_broker_full(self) -> bool:
        """Tell whether the broker takes no message: Redis says so itself, RabbitMQ to relays only."""
        return self.servers.broker.is_full or any(one.finds_broker_full and one.is_fresh for one in self.processes)

    @cached_property
    def places(self) -> dict[UUID, list[Place]]:
        """Return the places that attempts, inbox and dead letters know, by message."""
        found: dict[UUID, list[Place]] = defaultdict(list)
        known: tuple[Iterable[Place], ...] = (self.states.last_attempt, self.states.processed, self.states.dead_letters)
        for place in dict.fromkeys(chain(*known)):
            found[place[0]].append(place)
        return found

    @cached_property
    def dead_lettered_places(self) -> dict[str, list[Place]]:
        """Return the places of the dead letters that are no edited copies, by key."""
        found: dict[str, list[Place]] = defaultdict(list)
        for place, dead_letter in self.states.dead_letters.items():
            if not dead_letter.copy_of_id:
                found[dead_letter.key].append(place)
        return found

    @cached_property
    def finds(self) -> dict[tuple[str, str], list[Find]]:
        """Return what was seen in the broker, by message id and consumer."""
        found: dict[tuple[str, str], list[Find]] = defaultdict(list)
        for find in self.servers.broker.search.finds:
            found[find.message_id, find.consumer].append(find)
        return found

    @cached_property
    def queues(self) -> dict[str, QueueSnapshot]:
        """Return what the broker says of each queue."""
        is_complete = self.servers.broker.is_searchable and self.servers.broker.search.is_complete
        return {
            name: QueueSnapshot(
                depth.waiting, is_complete, depth.taken, depth.consumer_count, self.served_until.get(name)
            )
            for name, depth in self.servers.broker.depths.items()
        }


def take_snapshot(lookups: Sequence[Lookup]) -> Snapshot:
    """Read the broker, then the tables."""
    ids = {message_id for lookup in lookups for message_id in lookup.all_message_ids}
    wanted = [str(message_id) for message_id in ids - _done_for_good(lookups)]
    queues = _queues(lookups)
    servers = ask_servers(queues, wanted, keys=_single_subject(lookups))
    processes, in_flight = read_processes()
    states = MessageStates([lookup.key for lookup in lookups if lookup.is_subject and lookup.key], ids)
    moment = now()
    served = served_until() if _may_any_be_overtaken(lookups, states, moment) else {}
    waits = tuple(lock_waits()) if any(held.started_at for held in in_flight.values()) else ()
    return Snapshot(
        moment,
        servers,
        states,
        processes,
        in_flight,
        _ahead(lookups),
        served,
        waits,
        ended_processes(processes, queues),
    )


def _single_subject(lookups: Sequence[Lookup]) -> list[str]:
    """Return the key whose effects are checked: a survey is of what is not done."""
    return [lookup.key for lookup in lookups if lookup.key] if len(lookups) == 1 else []


def now() -> datetime:
    """Return the database's time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (found,) = cursor.fetchone()
    moment: datetime = found
    return moment


def all_queues() -> list[str]:
    """Return the names of the project's queues."""
    return [queue.name for queue in baton().queues]


def _may_any_be_overtaken(lookups: Sequence[Lookup], states: MessageStates, moment: datetime) -> bool:
    """Tell whether a message left for the broker so long ago that later ones can have overtaken it."""
    sent_at = (row.published_at for lookup in lookups for row in lookup.rows if not row.settled_at)
    requested_at = (dead_letter.requested_at for dead_letter in states.dead_letters.values())
    return any(at and moment - at > MARGIN for at in chain(sent_at, requested_at))


def _done_for_good(lookups: Sequence[Lookup]) -> set[UUID]:
    """Return the messages that all their consumers have processed: reading the queues tells nothing of them.

    A settled message is one, whatever happens meanwhile, unless it has a dead letter that may be sent again.
    """
    settled = {row.message_id for lookup in lookups for row in lookup.rows if row.settled_at}
    if not settled:
        return settled
    dead_letters = DeadLetter.objects.filter(message_id__any_of=settled).exclude(state=State.RESOLVED)
    return settled - set(dead_letters.values_list("message_id", flat=True))


def _queues(lookups: Sequence[Lookup]) -> list[str]:
    """Return the queues that the messages may be in: all, if one has left the outbox and its event is not known."""
    if any(lookup.has_unknown_events for lookup in lookups):
        return all_queues()
    names = {row.name for lookup in lookups for row in lookup.rows}
    found = {queue_name_of(known.consumer) for name in names for known in subscriptions_of(name)}
    return sorted(found & set(all_queues()))


def _ahead(lookups: Sequence[Lookup]) -> dict[int, int]:
    """Count before the first of them only; the others are at most as far back as their number among these says."""
    unsent = sorted(_unsent(lookups), key=lambda row: row.pk)
    if not unsent:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_AHEAD, [unsent[0].pk, MAX_COUNTED])
        (before,) = cursor.fetchone()
    return {row.pk: before + number for number, row in enumerate(unsent)}


def _unsent(lookups: Sequence[Lookup]) -> Iterator[OutboxMessage]:
    return (row for lookup in lookups for row in lookup.rows if row.published_at is None)
