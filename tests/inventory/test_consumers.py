"""The consumers of inventory without a broker: what a worker would leave, by the package's test kit."""

import pytest
from baton_messaging.testing import DeathReason, assert_published, dead_letters, deliver, deliver_bundle, published

from inventory.events import StockRejected, StockReserved
from inventory.models import Reservation
from inventory.tasks import release_stock, reserve_stock
from tests.inventory.factories import cancelled, placed, reserved, stock

pytestmark = pytest.mark.django_db


def test_an_order_that_comes_twice_is_reserved_and_answered_once() -> None:
    stock(A=5)
    order = placed()
    deliver(order, to=reserve_stock, times=2)
    deliver(order, to=reserve_stock)  # nobody published it: another message about the same order
    assert reserved("A") == 2
    assert assert_published(StockReserved).order_id == order.order_id


def test_an_order_that_is_short_is_answered_by_an_event_not_by_an_error() -> None:
    stock(A=1)
    deliver(placed(quantity=2), to=reserve_stock)
    assert assert_published(StockRejected).skus == ("A",)
    assert dead_letters() == []


def test_of_a_bundle_the_impossible_order_dies_and_the_others_are_reserved() -> None:
    stock(A=5)
    bad, good = placed(quantity=0), placed()
    outcomes = deliver_bundle([bad, good], to=reserve_stock, expect=None)
    assert [outcome.state for outcome in outcomes] == ["dead", "done"]
    (dead_letter,) = dead_letters(consumer="inventory.reserve_stock")
    assert (dead_letter.key, dead_letter.reason) == (bad.key, DeathReason.PERMANENT_ERROR)
    assert published() == [StockReserved(order_id=good.order_id)]


def test_a_cancelled_order_gives_its_stock_back_once() -> None:
    stock(A=5)
    order = placed()
    deliver(order, to=reserve_stock)
    deliver(cancelled(order.order_id), to=release_stock, times=2)
    assert reserved("A") == 0
    assert Reservation.objects.get().state == Reservation.State.RELEASED
