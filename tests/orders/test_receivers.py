"""What a dead letter does to its order."""

from typing import Any

import pytest
from uuid_utils.compat import uuid7

from messaging.signals import dead_lettered, dead_letters_settled
from orders import services
from orders.models import Order, OrderStatus
from tests.orders.factories import an_order

pytestmark = pytest.mark.django_db


def die(key: Any) -> None:
    dead_lettered.send(sender=None, key=str(key), consumer="inventory.reserve_stock", message_id=uuid7())


def test_an_order_with_a_dead_letter_needs_attention(catalogue: None) -> None:
    order, other = an_order(), an_order()
    die(order.pk)
    assert list(Order.objects.filter(needs_attention=True)) == [order]
    assert Order.objects.get(pk=other.pk).status == OrderStatus.ACCEPTED


def test_a_dead_letter_does_not_undo_what_is_settled(catalogue: None) -> None:
    order = an_order()
    services.cancel_order(order.pk)
    settled = Order.objects.get(pk=order.pk)
    die(order.pk)
    flagged = Order.objects.get(pk=order.pk)
    assert (flagged.status, flagged.settled_at) == (OrderStatus.CANCELLED, settled.settled_at)


@pytest.mark.parametrize("key", ["export-7", "", uuid7()])
def test_a_dead_letter_about_something_else_is_ignored(catalogue: None, key: Any) -> None:
    an_order()
    die(key)
    assert not Order.objects.filter(needs_attention=True).exists()


def test_an_order_whose_dead_letters_were_dealt_with_needs_no_attention(catalogue: None) -> None:
    order, other = an_order(), an_order()
    die(order.pk)
    die(other.pk)
    dead_letters_settled.send(sender=None, keys={str(order.pk), "export-7"})
    assert list(Order.objects.filter(needs_attention=True)) == [other]
    assert Order.objects.get(pk=order.pk).status == OrderStatus.ACCEPTED
