"""Deliveries put together from a snapshot: each message on its way to each consumer."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from baton_messaging.broker.inspect.find import Find
from baton_messaging.diagnosis.message_states import Place
from baton_messaging.diagnosis.triage.delivery_facts import Delivery, Future, Sighting, Where
from baton_messaging.diagnosis.triage.gather.processes import in_flight_of
from baton_messaging.diagnosis.triage.gather.rows import (
    dead_letter_facts,
    failed_facts,
    held_facts,
    limits_facts,
    processed_facts,
    published_facts,
)
from baton_messaging.diagnosis.triage.gather.snapshot import Snapshot
from baton_messaging.diagnosis.triage.lookup import Lookup
from baton_messaging.diagnosis.triage.process_facts import InFlight, Process
from baton_messaging.events import is_known
from baton_messaging.health.dependencies import needs_of_consumers
from baton_messaging.health.locks import LockWait
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.models import Attempt, DeadLetter, FutureMessage, OutboxMessage
from baton_messaging.models.dead_letter import RELAY
from baton_messaging.models.heartbeat import Role
from baton_messaging.routing.ownership import owner_as_kept, owner_of, queue_name_of
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE
from baton_messaging.routing.subscriptions import subscriptions_of

_NEAREST = ("queue", "taken", "dead letters")  # of several copies, which one is told of: the first of these


def deliveries_of(lookup: Lookup, snapshot: Snapshot) -> Iterator[Delivery]:
    """Return the deliveries of all messages that were asked for, oldest message first."""
    rows = {row.message_id: row for row in lookup.rows}
    for place in _places(lookup, snapshot):
        if not lookup.consumer or place[1] == lookup.consumer:
            yield _delivery(place, rows.get(place[0]), snapshot)
    for row in lookup.future:
        yield from (_not_due(row, consumer) for consumer in _consumers_of(row.name))
    for dead_letter in lookup.dead_letters:
        if dead_letter.message_id is None:  # what is no envelope of ours has nothing but its dead letter
            yield _bare(dead_letter, snapshot)


def _places(lookup: Lookup, snapshot: Snapshot) -> list[Place]:
    """Return message and consumer of all that is, or was, to be delivered."""
    places = {(row.message_id, consumer): None for row in lookup.rows for consumer in _consumers(row)}
    for message_id in lookup.all_message_ids:
        places.update(dict.fromkeys(snapshot.places.get(message_id, ())))
    if lookup.is_subject:
        places.update(dict.fromkeys(snapshot.dead_lettered_places.get(lookup.key, ())))
    return list(places)


def _consumers(row: OutboxMessage) -> list[str]:
    if not is_known(row.name):
        return [RELAY]  # its consumers are not known; the relay keeps it, and in the end dead-letters it
    return [known.consumer for known in subscriptions_of(row.name) if row.is_for(known.consumer)]


def _consumers_of(event_name: str) -> list[str]:
    """Return who would be sent an event now; the relay, if this release does not know it."""
    return [known.consumer for known in subscriptions_of(event_name)] if is_known(event_name) else [RELAY]


def _not_due(row: FutureMessage, consumer: str) -> Delivery:
    return Delivery(
        consumer=consumer,
        event=row.name,
        message_id=row.message_id,
        queue=queue_name_of(consumer),
        owner=owner_of(consumer),
        future=Future(row.published_at, row.due_at, row.cancelled_at, row.cancelled_by, row.why),
    )


def _delivery(place: Place, row: OutboxMessage | None, snapshot: Snapshot) -> Delivery:
    standing = snapshot.states.at(place, row)
    (message_id, consumer), dead_letter, failed = standing.place, standing.dead_letter, standing.last_attempt
    event = row.name if row else dead_letter.event_name if dead_letter else _event_of(failed)
    key = row.key if row else dead_letter.key if dead_letter else failed.key if failed else ""
    in_flight = in_flight_of(standing.place, snapshot.in_flight)
    return Delivery(
        consumer=consumer,
        event=event,
        message_id=message_id,
        queue=queue_name_of(consumer),
        owner=owner_as_kept(consumer, dead_letter.owner if dead_letter else ""),
        limits=limits_facts(consumer),
        published=published_facts(row, consumer, snapshot) if row else None,
        processed=processed_facts(standing.processed),
        failed=failed_facts(failed, snapshot),
        dead_letter=dead_letter_facts(dead_letter, snapshot),
        held=held_facts(snapshot, consumer, event, key, message_id),
        in_flight=in_flight,
        seen=_sighting(standing.place, snapshot),
        lock=_lock(in_flight, snapshot),
    )


def needs_of(consumers: Iterable[str], processes: Collection[Process] = ()) -> dict[Resource, list[Resource]]:
    """Return what each consumer needs, each queue that a worker gave up, what has none at work, what has one only."""
    needs = needs_of_consumers(consumers)
    served: set[Resource] = set()
    living: dict[Resource, list[Resource]] = defaultdict(list)
    for process in processes:
        for place in _places_of(process) if process.is_fresh else ():
            living[place].append(Resource(Kind.PROCESS, process.name))
        if process.is_at_work:
            served.update(_places_of(process))
    for process in processes:
        given_up = [Resource(Kind.QUEUE, queue) for queue in process.unconsumed_queues]
        for place in (*given_up, *(place for place in _places_of(process) if place not in served)):
            needs.setdefault(place, []).append(Resource(Kind.PROCESS, process.name))
    for place, (only, *others) in living.items():
        if not others:
            needs[place] = [only] if place.kind is Kind.ROLE else [*needs.get(place, ()), only]
    return needs


def _places_of(process: Process) -> list[Resource]:
    """Return what has a process of its kind: a queue a worker, a role itself."""
    if process.role == Role.WORKER:
        return [Resource(Kind.QUEUE, queue) for queue in process.queues]
    return [Resource(Kind.ROLE, process.role)]


def _lock(in_flight: InFlight | None, snapshot: Snapshot) -> LockWait | None:
    """Return the lock that the child waits for which runs the message."""
    if in_flight is None:
        return None
    return next((wait for wait in snapshot.lock_waits if in_flight.is_of(wait.application)), None)


def _bare(dead_letter: DeadLetter, snapshot: Snapshot) -> Delivery:
    consumer = dead_letter.consumer
    return Delivery(
        consumer=consumer,
        event=dead_letter.event_name,
        message_id=None,
        queue=queue_name_of(consumer),
        owner=owner_as_kept(consumer, dead_letter.owner),
        dead_letter=dead_letter_facts(dead_letter, snapshot),
    )


def _event_of(attempt: Attempt | None) -> str:
    return str(attempt.envelope.get("name", "")) if attempt else ""


def _sighting(place: Place, snapshot: Snapshot) -> Sighting | None:
    message_id, consumer = place
    found = [
        Sighting(_where(find), find.ahead_count, find.delivery_count)
        for find in snapshot.finds.get((str(message_id), consumer), ())
    ]
    return min(found, key=lambda seen: _NEAREST.index(seen.where), default=None)


def _where(find: Find) -> Where:
    if find.queue == DEAD_LETTER_QUEUE:
        return "dead letters"
    return "taken" if find.ahead_count is None else "queue"
