"""The broker loses everything while orders are under way, and yet all is done, once: real workers, both brokers.

EMPTIED_ORDER_COUNT says how many orders (40; the figures in docs/performance.md are of 2,000).
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from baton_dev.servers.embedded import Valkey
from baton_dev.testing.broker_queues import lose_everything
from baton_dev.testing.drain import wait_until_database_is_idle
from baton_dev.testing.processes import Process, relay_command, wait_until, worker_command
from baton_dev.testing.rabbitmq import RabbitMQ, is_installed, skip_without_rabbitmq
from baton_dev.testing.reconciliation import reconcile_until_settled, unsettled_count
from baton_messaging.models import DeadLetter, ProcessedMessage, Recovery
from django.db.models import Sum

from inventory.models import StockItem
from notifications.models import MailLog
from orders import services
from orders.exports.states import ExportState
from orders.models import DailySales, Order, OrderStatus
from tests.inventory.factories import stock
from tests.orders.exports.factories import an_export
from tests.orders.factories import a_request, products

ORDER_COUNT = int(os.environ.get("EMPTIED_ORDER_COUNT", "40"))
SETTLE_SECONDS = 150 + ORDER_COUNT  # two mails an order are what takes the time

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(SETTLE_SECONDS + 150)]


@pytest.fixture(scope="module")
def rabbitmq() -> Iterator[RabbitMQ]:
    """Start RabbitMQ on the side: it takes ten seconds, in which the test of Valkey can run."""
    service = RabbitMQ(Path(os.environ["BATON_STATE_DIR"]) / "emptied")
    service.destroy()  # a node that was stopped in its very first start comes back without quorum queues
    if is_installed():
        service.launch()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def valkey(rabbitmq: RabbitMQ) -> Iterator[Valkey]:
    with Valkey(Path(os.environ["BATON_STATE_DIR"]) / "emptied") as service:
        yield service


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


def test_everything_that_an_emptied_broker_lost_is_done_and_each_effect_once(
    service: Valkey | RabbitMQ, start: Callable[..., Process], transactional_db: None
) -> None:
    lose_everything(service)
    products()
    stock(MUG=10 * ORDER_COUNT)
    start("relay", relay_command())
    worker = start("worker", worker_command("orders", "notifications", "baton"))
    worker.wait_for_output(" ready.")

    # No worker consumes two queues yet: an export and all reservations wait in the broker. So no order can be through
    # before they are lost.
    export = an_export()
    orders = [services.place_order(a_request(MUG=1)) for _ in range(ORDER_COUNT)]
    wait_until(lambda: ProcessedMessage.objects.count() >= ORDER_COUNT // 4, what="orders under way")
    lose_everything(service)
    in_the_middle = unsettled_count()
    assert Order.objects.exclude(status=OrderStatus.CONFIRMED).exists()
    start("late-worker", worker_command("orders.bulk", "inventory"))
    found = reconcile_until_settled(start, seconds=SETTLE_SECONDS)

    assert unsettled_count() == 0, found.last
    assert found.sent_again_count >= 2
    assert Recovery.objects.aggregate(total=Sum("message_count"))["total"] == found.sent_again_count
    assert not DeadLetter.objects.exists()
    assert Order.objects.filter(status=OrderStatus.CONFIRMED).count() == len(orders)
    assert DailySales.objects.aggregate(total=Sum("order_count"))["total"] == len(orders)
    assert StockItem.objects.get(pk="MUG").reserved == len(orders)
    assert MailLog.objects.exclude(kind="export_ready").count() == 2 * len(orders)
    export.refresh_from_db()
    assert export.state == ExportState.READY
    sys.stdout.write(
        f"{type(service).__name__}: {len(orders)} orders, {in_the_middle} messages unsettled when the broker was "
        f"emptied, {found.sent_again_count} sent again, all settled after {found.seconds:.0f} s and "
        f"{found.tick_count} ticks\n"
    )
