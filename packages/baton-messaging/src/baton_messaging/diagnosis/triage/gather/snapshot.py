"""Everything that is looked up, once for all that was asked. The order of the looks matters.

The broker comes first, then the tables: a message is committed before it is acknowledged, so one that was in no queue
then, and is in no table afterwards, is nowhere.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any, Final
from uuid import UUID

from django.db import connection

from baton_messaging.broker.inspect.find import Find
from baton_messaging.conf import baton
from baton_messaging.diagnosis.message_states import Known, Place
from baton_messaging.diagnosis.triage.facts import InHand, Process, QueueLook
from baton_messaging.diagnosis.triage.gather.broker import BrokerLook, look_at_broker
from baton_messaging.diagnosis.triage.gather.processes import look_at_processes
from baton_messaging.diagnosis.triage.lookup import Asked
from baton_messaging.models import DeadLetter, OutboxMessage
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
class Looks:
    """What the looks brought. ``ahead`` counts the unsent rows before each unsent row that was asked for.

    ``served_until`` is looked up only if somebody may have been overtaken: it reads the newest rows of the inbox.
    """

    now: datetime
    broker: BrokerLook
    known: Known
    processes: tuple[Process, ...]
    in_flight: dict[Any, InHand]
    ahead: dict[int, int]
    served_until: dict[str, datetime]

    @property
    def is_broker_full(self) -> bool:
        """Tell whether the broker takes no message: Redis says so itself, RabbitMQ to relays only."""
        return self.broker.is_full or any(one.finds_broker_full and one.is_fresh for one in self.processes)

    @cached_property
    def places(self) -> dict[UUID, list[Place]]:
        """Return the places that attempts, inbox and dead letters know, by message."""
        found: dict[UUID, list[Place]] = defaultdict(list)
        known: tuple[Iterable[Place], ...] = (self.known.last_attempt, self.known.processed, self.known.letters)
        for place in dict.fromkeys(chain(*known)):
            found[place[0]].append(place)
        return found

    @cached_property
    def lettered_places(self) -> dict[str, list[Place]]:
        """Return the places of the dead letters that are no edited copies, by key."""
        found: dict[str, list[Place]] = defaultdict(list)
        for place, letter in self.known.letters.items():
            if not letter.copy_of_id:
                found[letter.key].append(place)
        return found

    @cached_property
    def finds(self) -> dict[tuple[str, str], list[Find]]:
        """Return what was seen in the broker, by message id and consumer."""
        found: dict[tuple[str, str], list[Find]] = defaultdict(list)
        for find in self.broker.search.finds:
            found[find.message_id, find.consumer].append(find)
        return found

    @cached_property
    def queues(self) -> dict[str, QueueLook]:
        """Return what the broker says of each queue."""
        is_complete = self.broker.is_searchable and self.broker.search.is_complete
        return {
            name: QueueLook(depth.waiting, is_complete, depth.taken, depth.consumer_count, self.served_until.get(name))
            for name, depth in self.broker.depths.items()
        }


def look(asks: Sequence[Asked]) -> Looks:
    """Look everywhere."""
    ids = {message_id for asked in asks for message_id in asked.all_message_ids}
    broker = look_at_broker(_queues(asks), [str(message_id) for message_id in ids - _done_for_good(asks)])
    processes, in_flight = look_at_processes()
    known = Known([asked.key for asked in asks if asked.is_subject and asked.key], ids)
    moment = now()
    served = served_until() if _may_any_be_overtaken(asks, known, moment) else {}
    return Looks(moment, broker, known, processes, in_flight, _ahead(asks), served)


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


def _may_any_be_overtaken(asks: Sequence[Asked], known: Known, moment: datetime) -> bool:
    """Tell whether a message left for the broker so long ago that later ones can have overtaken it."""
    sent_at = (row.published_at for asked in asks for row in asked.rows if not row.settled_at)
    requested_at = (letter.requested_at for letter in known.letters.values())
    return any(at and moment - at > MARGIN for at in chain(sent_at, requested_at))


def _done_for_good(asks: Sequence[Asked]) -> set[UUID]:
    """Return the messages that all their consumers have processed: reading the queues tells nothing of them.

    A settled message is one, whatever happens meanwhile, unless it has a dead letter that may be sent again.
    """
    settled = {row.message_id for asked in asks for row in asked.rows if row.settled_at}
    if not settled:
        return settled
    letters = DeadLetter.objects.filter(message_id__any_of=settled).exclude(state=State.RESOLVED)
    return settled - set(letters.values_list("message_id", flat=True))


def _queues(asks: Sequence[Asked]) -> list[str]:
    """Return the queues that the messages may be in: all, if one has left the outbox and its event is not known."""
    if any(asked.has_unknown_events for asked in asks):
        return all_queues()
    names = {row.name for asked in asks for row in asked.rows}
    found = {queue_name_of(known.consumer) for name in names for known in subscriptions_of(name)}
    return sorted(found & set(all_queues()))


def _ahead(asks: Sequence[Asked]) -> dict[int, int]:
    """Count before the first of them only; the others are at most as far back as their number among these says."""
    unsent = sorted(_unsent(asks), key=lambda row: row.pk)
    if not unsent:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_AHEAD, [unsent[0].pk, MAX_COUNTED])
        (before,) = cursor.fetchone()
    return {row.pk: before + number for number, row in enumerate(unsent)}


def _unsent(asks: Sequence[Asked]) -> Iterator[OutboxMessage]:
    return (row for asked in asks for row in asked.rows if row.published_at is None)
