"""An order that is not confirmed in time is cancelled by itself: by a message in the future."""

from datetime import timedelta
from typing import Any

import pytest
from baton_dev.testing.processes import Process, wait_until
from baton_messaging.models import FutureMessage
from baton_messaging.models.future_message import FutureMessageQuerySet
from baton_messaging.testing import assert_published, deliver, published
from django.core.management import call_command

from inventory.models import StockItem
from orders import services
from orders.events import ConfirmationOverdue, OrderCancelled
from orders.models import Order, OrderStatus
from orders.tasks import cancel_overdue
from tests.orders.factories import an_order

ALLOWED = timedelta(seconds=259_200)


def deadlines() -> FutureMessageQuerySet:
    return FutureMessage.objects.filter(name=ConfirmationOverdue.event_name)


def status_of(order: Order) -> str:
    return Order.objects.get(pk=order.pk).status


@pytest.mark.django_db
def test_an_order_brings_its_deadline_along(catalogue: None) -> None:
    order = an_order()
    assert deadlines().waiting().get(key=str(order.pk)).due_at == order.placed_at + ALLOWED


@pytest.mark.django_db
@pytest.mark.parametrize("settle", [services.confirm_order, services.reject_order, services.cancel_order])
def test_what_settles_the_order_cancels_it(catalogue: None, settle: Any) -> None:
    order, other = an_order(), an_order()
    settle(order.pk)
    assert [row.key for row in deadlines().waiting()] == [str(other.pk)]
    assert deadlines().get(key=str(order.pk)).cancelled_at is not None


@pytest.mark.django_db
def test_an_order_that_is_still_open_then_is_cancelled_and_told_of_as_overdue(catalogue: None) -> None:
    order = an_order()
    deliver(ConfirmationOverdue(order_id=order.pk), to=cancel_overdue)
    assert status_of(order) == OrderStatus.CANCELLED
    assert assert_published(OrderCancelled).is_overdue


@pytest.mark.django_db
def test_one_that_was_settled_in_the_same_moment_stays_what_it_is(catalogue: None) -> None:
    order = an_order()
    services.confirm_order(order.pk)
    deliver(ConfirmationOverdue(order_id=order.pk), to=cancel_overdue)
    assert status_of(order) == OrderStatus.CONFIRMED
    assert not published(OrderCancelled)


@pytest.mark.django_db
def test_without_a_limit_an_order_waits_for_ever(catalogue: None, settings: Any) -> None:
    settings.ORDERS = {**settings.ORDERS, "CONFIRM_WITHIN_SECONDS": 0}
    an_order()
    assert not deadlines().exists()


@pytest.mark.django_db(transaction=True)
def test_while_the_stock_does_not_answer_the_order_is_cancelled_and_the_stock_stays_exact(
    committed_catalogue: None, relay: Process, worker: Process, settings: Any
) -> None:
    settings.ORDERS = {**settings.ORDERS, "CONFIRM_WITHIN_SECONDS": 1}
    StockItem.objects.create(sku="MUG", on_hand=5)
    call_command("consumers", "pause", "inventory.reserve_stock", "--why", "stocktaking")
    order = an_order(MUG=2)
    wait_until(lambda: status_of(order) == OrderStatus.CANCELLED, what="the deadline")
    call_command("consumers", "resume", "inventory.reserve_stock")
    wait_until(lambda: not Order.objects.filter(status=OrderStatus.ACCEPTED).exists(), what="the order to settle")
    other = an_order(MUG=5)  # would be rejected if a piece of the first were still reserved
    wait_until(lambda: status_of(other) == OrderStatus.CONFIRMED, seconds=60, what="the whole stock to be free")
