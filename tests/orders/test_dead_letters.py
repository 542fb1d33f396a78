"""What becomes of an order whose message dies in real processes, and when its dead letter is dealt with."""

import pytest
from baton_dev.testing.processes import Process, wait_until
from baton_messaging.audit.actors import Actor
from baton_messaging.dead_letters.operations.discard import discard
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import Reason

from orders import services
from orders.models import Order, OrderStatus
from tests.orders.factories import a_request, products

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_order_whose_message_dies_needs_attention_until_somebody_has_dealt_with_it(
    worker: Process, collector: Process, request: pytest.FixtureRequest
) -> None:
    products()
    order = services.place_order(a_request())
    OutboxMessage.objects.update(version=99)  # as a newer release would write it: no consumer here can read that
    request.getfixturevalue("relay")
    wait_until(Order.objects.filter(needs_attention=True).exists, what="an order that needs attention")
    letters = DeadLetter.objects.filter(key=str(order.pk))
    wait_until(lambda: letters.count() == 3, what="the dead letters of all three consumers")
    assert {letter.reason for letter in letters} == {Reason.UNKNOWN_EVENT}
    order.refresh_from_db()
    assert (order.status, order.needs_attention) == (OrderStatus.ACCEPTED, True)

    discard(Selection(ids=tuple(letter.pk for letter in letters)), actor=Actor(name="ann", via="command"), why="a test")
    order.refresh_from_db()
    assert not order.needs_attention
