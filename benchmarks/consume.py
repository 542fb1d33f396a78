"""How many messages a second does a worker get through, and how many a relay sends?

A round loads each side's queue while its worker stands still, lets the worker go, and reads the end from the rows that
it wrote. Baton's messages take the real way: published into the outbox, moved to the broker by the relay, which is
measured on that occasion. Message n is about SKU n modulo SKU_COUNT, so no two transactions that run at the same time
want the same row.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import redis
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.publish import publish
from django.db import connection, transaction
from uuid_utils.compat import uuid7

from benchmarks import plain_celery
from benchmarks.events import Bundled, Listed, Single
from benchmarks.models import Effect, SeenMessage, Stock
from benchmarks.processes import Child, wait_until
from benchmarks.processor_time import is_measurable, seconds_spent
from benchmarks.report import Check, Figure, Section, ratio
from benchmarks.rounds import Rounds
from benchmarks.stage import Stage

SKU_COUNT = 1_000
PUBLISH_AT_ONCE = 1_000  # events in one transaction
RELAY_TARGET = 5_000.0  # messages a second, bundles as they come
EventClass = type[Single | Bundled | Listed]


@dataclass
class Side:
    """One way of doing the work: who does it, how it is loaded, how fast it was."""

    name: str
    worker: Child
    broker: redis.Redis
    message_count: int
    load: Callable[[int], float | None]
    handled_per_second: list[float] = field(default_factory=list)
    relayed_per_second: list[float] = field(default_factory=list)
    milliseconds_spent: list[float] = field(default_factory=list)

    def run(self) -> None:
        """Do one round."""
        _clear()
        relayed = self.load(self.message_count)
        spent_before, started_at = self._seconds_spent(), _now()
        with self.worker.resumed():
            wait_until(lambda: Effect.objects.count() >= self.message_count, what=f"the work of {self.name}")
            wait_until(lambda: not self.broker.hlen("unacked"), what=f"the last ack of {self.name}")
        _check_once(self.message_count)
        self.handled_per_second.append(self.message_count / _seconds_until_the_last_effect(started_at))
        self.milliseconds_spent.append((self._seconds_spent() - spent_before) / self.message_count * 1000)
        if relayed:
            self.relayed_per_second.append(relayed)

    def _seconds_spent(self) -> float:
        return seconds_spent(self.worker.pid) if is_measurable() else 0.0

    @property
    def spent(self) -> Figure:
        return Figure(f"processor time: {self.name}", self.milliseconds_spent, "ms a message")

    @property
    def handled(self) -> Figure:
        return Figure(self.name, self.handled_per_second, "messages/s")

    @property
    def relayed(self) -> Figure:
        return Figure(self.name.replace("Baton, ", ""), self.relayed_per_second, "messages/s")


def measure(stage: Stage, *, rounds: Rounds, scale: float) -> Iterable[Section]:
    """Run all sides in turn, in each round."""
    sides = _sides(stage, scale)
    for side in rounds.of(sides):
        side.run()
    return _sections(*sides)


def _sides(stage: Stage, scale: float) -> list[Side]:
    plain_broker = redis.Redis.from_url(plain_celery.BROKER_URL)
    broker = redis.Redis.from_url(os.environ["CELERY_BROKER_URL"])

    def plain(name: str, worker: Child, message_count: float, queue: str) -> Side:
        return Side(name, worker, plain_broker, _whole(message_count * scale), _plain_loader(queue))

    def baton(name: str, message_count: float, event: EventClass) -> Side:
        return Side(name, stage.baton, broker, _whole(message_count * scale), _baton_loader(event, stage.relay))

    return [
        plain("plain Celery task", stage.plain, 120, "plain"),
        plain("plain, connection kept", stage.reuse, 250, plain_celery.REUSED),
        baton("Baton, one message per task", 350, Single),
        baton("Baton, bundles of 100", 2_500, Bundled),
        baton("Baton, bundle=True, bundles of 500", 10_000, Listed),
    ]


def _sections(plain: Side, reuse: Side, single: Side, bundled: Side, listed: Side) -> list[Section]:
    baton = (single, bundled, listed)
    counts = ", ".join(f"{side.message_count:,}" for side in (plain, reuse, *baton))
    return [
        Section(
            f"consume: inbox row, stock update, one insert; worker with 2 processes; {counts} messages",
            [
                *(side.handled for side in (plain, reuse, *baton)),
                *(side.spent for side in (plain, reuse, *baton) if is_measurable()),
            ],
            [
                Check(f"{side.name} / plain", ratio(side.handled, plain.handled), target)
                for side, target in zip(baton, (2.5, 10, 50), strict=True)
            ],
        ),
        Section(
            "relay: from the outbox to the broker",
            [side.relayed for side in baton],
            [Check(bundled.relayed.name, bundled.relayed.value, RELAY_TARGET, "messages/s")],
        ),
    ]


def _plain_loader(queue: str) -> Callable[[int], None]:
    def load(message_count: int) -> None:
        with plain_celery.app.connection_for_write() as broker, plain_celery.app.amqp.Producer(broker) as producer:
            for order_id, sku in _orders(message_count):
                arguments = (str(uuid7()), str(order_id), sku, 1)
                plain_celery.reserve.apply_async(arguments, queue=queue, producer=producer)

    return load


def _baton_loader(event_class: EventClass, relay: Child) -> Callable[[int], float]:
    def load(message_count: int) -> float:
        events = [event_class(order_id=order_id, sku=sku, quantity=1) for order_id, sku in _orders(message_count)]
        for start in range(0, message_count, PUBLISH_AT_ONCE):
            with transaction.atomic():
                publish(*events[start : start + PUBLISH_AT_ONCE])
        started_at = _now()
        with relay.resumed():
            wait_until(lambda: not OutboxMessage.objects.waiting().exists(), what="an empty outbox")
        last = OutboxMessage.objects.latest("published_at").published_at
        assert last is not None
        return message_count / (last - started_at).total_seconds()

    return load


def _orders(count: int) -> Iterator[tuple[UUID, str]]:
    for number in range(count):
        yield uuid7(), f"SKU-{number % SKU_COUNT:04}"


def _clear() -> None:
    tables = ", ".join(model._meta.db_table for model in (Effect, SeenMessage, Stock, OutboxMessage, ProcessedMessage))
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables}")
    Stock.objects.bulk_create(Stock(sku=f"SKU-{number:04}") for number in range(SKU_COUNT))


def _check_once(message_count: int) -> None:
    """Refuse a figure that was reached by losing or doubling something."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(DISTINCT order_id), (SELECT sum(reserved) FROM benchmarks_stock)"
            " FROM benchmarks_effect"
        )
        row = cursor.fetchone()
    if row != (message_count,) * 3:
        raise RuntimeError(f"Expected {message_count} effects, orders and pieces, got {row}. See the logs.")


def _now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


def _seconds_until_the_last_effect(started_at: datetime) -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM max(created_at) - %s) FROM benchmarks_effect", [started_at])
        return float(cursor.fetchone()[0])


def _whole(count: float) -> int:
    return max(1, round(count))
