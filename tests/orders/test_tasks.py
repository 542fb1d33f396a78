"""The consumers of orders, with a real relay and a real worker between them and the outbox."""

from decimal import Decimal

import pytest
from baton_dev.testing.processes import Process, wait_until
from baton_messaging.extend import SETTLED_STATES, progress_of

from inventory.models import StockItem
from orders import services
from orders.models import DailySales, Order, OrderStatus
from tests.orders.factories import an_order

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop(committed_catalogue: None, relay: Process, worker: Process) -> None:
    StockItem.objects.create(sku="MUG", on_hand=5)


def wait_until_settled(*orders: Order) -> None:
    def is_settled(order: Order) -> bool:
        final = Order.objects.get(pk=order.pk).is_final  # first: what it sets off is committed along with it
        return final and all(consumer.state in SETTLED_STATES for consumer in progress_of(str(order.pk)))

    wait_until(lambda: all(map(is_settled, orders)), seconds=60, what="that all consumers are through")


def states(order: Order) -> dict[str, str]:
    return {progress.consumer: progress.state for progress in progress_of(str(order.pk))}


def test_an_order_that_is_in_stock_is_confirmed_and_booked_once(shop: None) -> None:
    order = an_order(MUG=2)
    wait_until_settled(order)
    assert Order.objects.get(pk=order.pk).status == OrderStatus.CONFIRMED
    assert states(order) == {
        "inventory.reserve_stock": "done",
        "notifications.send_order_received": "done",
        "orders.record_sale": "done",
        "orders.confirm_order": "done",
        "notifications.send_order_confirmed": "done",
    }
    figures = DailySales.objects.get()
    assert (figures.order_count, figures.amount, figures.cancelled_count) == (1, Decimal("19.00"), 0)


def test_an_order_that_is_not_in_stock_is_rejected(shop: None) -> None:
    order = an_order(MUG=6)
    wait_until_settled(order)
    assert Order.objects.get(pk=order.pk).status == OrderStatus.REJECTED
    assert states(order)["orders.reject_order"] == "done"


def test_an_order_cancelled_at_once_stays_cancelled_and_is_booked_back(shop: None) -> None:
    order = an_order(MUG=1)
    services.cancel_order(order.pk)
    wait_until_settled(order)
    assert Order.objects.get(pk=order.pk).status == OrderStatus.CANCELLED
    assert StockItem.objects.get(sku="MUG").reserved == 0
    figures = DailySales.objects.get()
    assert (figures.order_count, figures.cancelled_count, figures.cancelled_amount) == (1, 1, Decimal("9.50"))


def test_many_orders_at_once_are_all_booked(shop: None) -> None:
    orders = [an_order(MUG=1) for _ in range(30)]
    wait_until_settled(*orders)
    figures = DailySales.objects.get()
    assert (figures.order_count, figures.amount) == (30, Decimal("285.00"))
    confirmed_count = Order.objects.filter(status=OrderStatus.CONFIRMED).count()
    assert confirmed_count == 5
