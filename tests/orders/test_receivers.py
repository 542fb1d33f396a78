"""What a dead letter does to its order."""

from threading import Event, Thread
from typing import Any

import pytest
from baton_messaging.signals import dead_lettered, dead_letters_settled
from baton_messaging.testing import a_dead_letter, assert_published, discard_dead_letter
from django.db import connection, transaction
from uuid_utils.compat import uuid7

from orders import services
from orders.events import OrderPlaced
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


@pytest.mark.django_db(transaction=True)
def test_an_order_whose_next_message_dies_while_the_last_letter_is_settled_keeps_its_mark(
    committed_catalogue: None,
) -> None:
    order = an_order()
    placed = assert_published(OrderPlaced, key=order.pk)
    letter = a_dead_letter(placed, consumer="inventory.reserve_stock")
    is_dead_lettered, is_settled = Event(), Event()

    def die_at_the_same_time() -> None:
        try:
            with transaction.atomic():
                a_dead_letter(placed, consumer="orders.record_sale")
                is_dead_lettered.set()
                is_settled.wait(1)  # who settles waits for us
        finally:
            connection.close()

    worker = Thread(target=die_at_the_same_time)
    worker.start()
    assert is_dead_lettered.wait(10)
    discard_dead_letter(letter)
    is_settled.set()
    worker.join(10)
    assert Order.objects.get(pk=order.pk).needs_attention
