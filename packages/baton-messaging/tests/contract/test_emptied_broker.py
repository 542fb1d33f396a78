"""The broker loses everything while orders are under way, and yet all is done, once: real workers, both brokers.

EMPTIED_ORDER_COUNT says how many orders (40; the figures in docs/performance.md are of 2,000).
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import kombu
import pytest
import redis
from baton_dev.servers.embedded import Valkey
from baton_dev.testing.drain import wait_until_database_is_idle
from baton_dev.testing.processes import Process, manage_command, relay_command, wait_until, worker_command
from baton_dev.testing.rabbitmq import RabbitMQ, skip_without_rabbitmq
from baton_messaging.broker.transports import install
from baton_messaging.maintenance.queue_migration import retry_while_busy
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, ProcessedMessage, Recovery
from baton_messaging.publish import publish
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE
from celery import current_app
from django.db import connection, transaction
from django.db.models import Q, Sum
from django.db.models.functions import Now

from inventory.models import StockItem
from notifications.models import MailLog
from orders import services
from orders.exports.states import ExportState
from orders.models import DailySales, Order, OrderStatus
from tests.flow_control.conftest import declare, delete
from tests.inventory.factories import stock
from tests.orders.exports.factories import an_export
from tests.orders.factories import a_request, products
from tests.sample.events import Sampled
from tests.sample.models import Effect

ORDER_COUNT = int(os.environ.get("EMPTIED_ORDER_COUNT", "40"))
TICK_SECONDS = 3
SETTLE_SECONDS = 150 + ORDER_COUNT  # two mails an order are what takes the time

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(SETTLE_SECONDS + 150)]
# The dead letters, too: one that an earlier test has left keeps the reconciler waiting for a collector.
QUEUES = ("orders", "orders.bulk", "inventory", "notifications", "baton", "sample", DEAD_LETTER_QUEUE)


@pytest.fixture(params=["valkey", "rabbitmq"])
def service(request: pytest.FixtureRequest) -> Valkey | RabbitMQ:
    if request.param == "rabbitmq":
        skip_without_rabbitmq()
    found: Valkey | RabbitMQ = request.getfixturevalue(request.param)
    found.start()
    return found


@pytest.fixture
def start(service: Valkey | RabbitMQ, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start processes of Baton on the broker; they are killed at the end."""
    with ExitStack() as stack:

        def start(name: str, command: list[str]) -> Process:
            process = Process(command, log=tmp_path / f"{name}.log", env={"CELERY_BROKER_URL": service.url})
            stack.callback(process.kill)
            return process

        yield start
    wait_until_database_is_idle()


def lose_everything(service: Valkey | RabbitMQ) -> None:
    """FLUSHALL; or delete all queues and declare them anew."""
    if isinstance(service, Valkey):
        with redis.Redis.from_url(service.url) as client:
            client.flushall()
        return
    install()
    with kombu.Connection(service.url, transport_options={"confirm_publish": True}) as broker:
        for name in QUEUES:
            retry_while_busy(broker, partial(delete, name))
        for name in QUEUES:
            declare(broker, current_app.amqp.queues[name])


def reconcile(start: Callable[..., Process], number: int) -> dict[str, Any]:
    """Run a tick against the broker; return what it says."""
    process = start(f"reconcile-{number}", manage_command("reconcile", "--format", "json"))
    wait_until(lambda: process.exit_code is not None, seconds=60, what="the end of the tick")
    output = process.output()
    assert process.exit_code == 0, output
    found: dict[str, Any] = json.loads(output[output.index("{\n") : output.rindex("\n}") + 2])
    return found


def unsettled_count() -> int:
    done = Q(settled_at__isnull=False)
    return OutboxMessage.objects.exclude(done).count()


def test_everything_that_an_emptied_broker_lost_is_done_and_each_effect_once(
    service: Valkey | RabbitMQ, start: Callable[..., Process], transactional_db: None
) -> None:
    lose_everything(service)
    products()
    stock(MUG=10 * ORDER_COUNT)
    start("relay", relay_command())
    worker = start("worker", worker_command("orders", "notifications", "baton"))
    worker.wait_for_output(" ready.")

    # Nobody consumes three queues yet: an export, a first delivery, a retry and all reservations wait in the broker.
    # So no order can be through before they are lost.
    export, first_id = an_export(), uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=first_id))
    retried = a_retry()
    orders = [services.place_order(a_request(MUG=1)) for _ in range(ORDER_COUNT)]
    wait_until(lambda: not Attempt.objects.filter(sent_at=None).exists(), what="the retry on its way")
    wait_until(lambda: ProcessedMessage.objects.count() >= ORDER_COUNT // 4, what="orders under way")
    lose_everything(service)
    emptied, in_the_middle = time.monotonic(), unsettled_count()
    assert Order.objects.exclude(status=OrderStatus.CONFIRMED).exists()
    start("late-worker", worker_command("orders.bulk", "sample", "inventory"))

    lost, tick_count, tick = 0, 0, {}
    while unsettled_count() and time.monotonic() - emptied < SETTLE_SECONDS:
        tick_count += 1
        tick = reconcile(start, tick_count)
        lost += tick["sent_again_count"]
        with suppress(AssertionError):  # then the next tick
            wait_until(lambda: not unsettled_count(), seconds=TICK_SECONDS)
    seconds = time.monotonic() - emptied

    assert unsettled_count() == 0, tick
    assert lost >= 3
    assert Recovery.objects.aggregate(total=Sum("message_count"))["total"] == lost
    assert not DeadLetter.objects.exists()
    assert Order.objects.filter(status=OrderStatus.CONFIRMED).count() == len(orders)
    assert DailySales.objects.aggregate(total=Sum("order_count"))["total"] == len(orders)
    assert StockItem.objects.get(pk="MUG").reserved == len(orders)
    assert MailLog.objects.exclude(kind="export_ready").count() == 2 * len(orders)
    assert [Effect.objects.filter(sample_id=one, consumer="take_one").count() for one in (first_id, retried)] == [1, 1]
    export.refresh_from_db()
    assert export.state == ExportState.READY
    sys.stdout.write(
        f"{type(service).__name__}: {len(orders)} orders, {in_the_middle} messages unsettled when the broker was "
        f"emptied, {lost} sent again, all settled after {seconds:.0f} s and {tick_count} ticks\n"
    )


def a_retry() -> Any:
    """Publish a message whose first attempt has failed; the relay sends its retry. Return the sample's id."""
    sample_id = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=sample_id))
        row = OutboxMessage.objects.get(key=str(sample_id))
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE baton_outbox SET published_at = now(), sent_to = '{sample.take_one}' WHERE id = %s",
                [row.pk],
            )
        Attempt.objects.create(
            message_id=row.message_id,
            consumer="sample.take_one",
            attempt=1,
            key=row.key,
            envelope=row.envelope().as_dict(),
            error_class="TimeoutError",
            due_at=Now(),
        )
    return sample_id
