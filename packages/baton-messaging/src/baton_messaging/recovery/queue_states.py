"""A snapshot of the queues: how deep they are, how far they have been served, and what the workers have in flight."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from celery import current_app
from django.db import connection

from baton_messaging.broker.inspect.depth import depths
from baton_messaging.conf import baton
from baton_messaging.models import Heartbeat
from baton_messaging.recovery.loss_rule import LATER_COUNT, QueueState
from baton_messaging.routing.ownership import queue_of
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE, UnknownQueue

LOOK_BACK: Final = 20_000  # newest rows of the inbox: read in some tens of milliseconds

_SERVED: Final = """
    SELECT processed.consumer, (array_agg(message.published_at ORDER BY message.published_at DESC))[1:%s::int]
    FROM baton_inbox AS processed
    JOIN baton_outbox AS message USING (message_id)
    WHERE processed.id > (SELECT max(id) FROM baton_inbox) - %s AND message.published_at IS NOT NULL
    GROUP BY processed.consumer
"""

InFlight = dict[str, set[UUID]]  # by consumer


def take_snapshot(queues: Collection[str]) -> tuple[dict[str, QueueState], InFlight]:
    """Return the state of each queue, and what living workers have in flight. Raises the broker's errors.

    In the order in which a message moves, so that one that moves meanwhile is met further on: queues,
    workers, dead letters; the tables come last, in ``losses``. Where the broker does not tell what was taken
    (RabbitMQ), this waits until each worker has beaten once more: what it took just before is in that beat. A worker
    that does not beat leaves its queues unknown.
    """
    looked_at = _database_time()
    with current_app.connection_for_read() as broker:
        broker.ensure_connection(max_retries=0)
        found = depths(broker, queues)
        silent = [name for name, depth in found.items() if depth.taken is None and not depth.waiting]
        unheard = _wait_for_beats(silent, since=_database_time()) if silent else set()
        in_flight = in_flight_now()
        uncollected_count = depths(broker, [DEAD_LETTER_QUEUE])[DEAD_LETTER_QUEUE].total
    served = served_until()
    states = {
        name: QueueState(name, depth, looked_at, served.get(name), name not in unheard, uncollected_count)
        for name, depth in found.items()
    }
    return states, in_flight


def in_flight_now() -> InFlight:
    """Return the ids of the messages that living workers run, or have taken, by consumer."""
    in_flight: InFlight = defaultdict(set)
    for running, reserved in Heartbeat.objects.fresh().workers().values_list("running", "reserved"):
        for item in [*running, *reserved]:
            in_flight[item["consumer"]].update(UUID(message_id) for message_id in item["message_ids"])
    return in_flight


def _wait_for_beats(queues: Iterable[str], *, since: datetime) -> set[str]:
    """Wait until the workers of some queues have beaten after ``since``; return the queues of those that did not."""
    wanted = set(queues)
    deadline = time.monotonic() + 2 * baton().heartbeat_seconds
    while True:
        late = Heartbeat.objects.fresh().workers().filter(beaten_at__lte=since, queues__overlap=list(wanted))
        unheard = {queue for queues_ in late.values_list("queues", flat=True) for queue in queues_} & wanted
        if not unheard or time.monotonic() > deadline:
            return unheard
        time.sleep(0.2)


def served_until() -> dict[str, datetime]:
    """Return for each queue when the LATER_COUNT-th newest processed message was sent for the first time."""
    newest: dict[str, list[datetime]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_SERVED, [LATER_COUNT, LOOK_BACK])
        for consumer, times in cursor.fetchall():
            try:
                newest[queue_of(consumer).name] += times
            except UnknownQueue:  # a consumer that this release does not have
                continue
    ordered = {queue: sorted(times, reverse=True) for queue, times in newest.items()}
    return {queue: times[LATER_COUNT - 1] for queue, times in ordered.items() if len(times) >= LATER_COUNT}


def _database_time() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return now  # type: ignore[no-any-return]  # a cursor's row is Any
