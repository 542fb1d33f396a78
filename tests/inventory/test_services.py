import re

import pytest
from baton_messaging.testing import published
from django.db import connection
from django.test.utils import CaptureQueriesContext
from uuid_utils.compat import uuid7

from inventory import services
from inventory.events import StockRejected, StockReserved
from inventory.models import Reservation, ReservationLine, StockItem
from tests.inventory.factories import demand, reserved, stock

pytestmark = pytest.mark.django_db

State = Reservation.State


def test_reserving_sets_stock_aside_and_says_so() -> None:
    stock(A=5, B=5)
    order = demand(A=2, B=1)
    services.reserve([order])
    assert (reserved("A"), reserved("B")) == (2, 1)
    assert published() == [StockReserved(order_id=order.order_id)]
    assert dict(ReservationLine.objects.values_list("item_id", "quantity")) == {"A": 2, "B": 1}


def test_an_order_that_is_short_of_one_thing_gets_nothing() -> None:
    stock(A=5, B=0)
    order = demand("A", "B")
    services.reserve([order])
    assert reserved("A") == 0
    assert not ReservationLine.objects.exists()
    assert Reservation.objects.get().state == State.REJECTED
    assert published() == [StockRejected(order_id=order.order_id, skus=("B",))]


def test_a_quantity_beyond_any_integer_column_is_only_short() -> None:
    stock(A=5)
    services.reserve([demand(A=10**12)])
    assert Reservation.objects.get().state == State.REJECTED


def test_reserving_again_changes_and_publishes_nothing() -> None:
    stock(A=5)
    order = demand(A=2)
    for _ in range(3):
        services.reserve([order])
    assert reserved("A") == 2
    assert len(published()) == 1


def test_the_same_order_twice_in_a_bundle_is_reserved_once() -> None:
    stock(A=5)
    order = demand(A=2)
    services.reserve([order, order, demand(A=9, order_id=order.order_id)])
    assert reserved("A") == 2
    assert len(published()) == 1


def test_releasing_gives_the_stock_back_once() -> None:
    stock(A=5, B=5)
    order, other = demand(A=2, B=1), demand(A=1)
    services.reserve([order, other])
    for _ in range(3):
        services.release({order.order_id})
    assert (reserved("A"), reserved("B")) == (1, 0)
    assert Reservation.objects.get(pk=order.order_id).state == State.RELEASED


def test_releasing_several_orders_adds_up_their_lines() -> None:
    stock(A=9, B=9)
    orders = [demand(A=2, B=1), demand(A=1), demand(B=4)]
    services.reserve(orders)
    services.release({order.order_id for order in orders})
    assert (reserved("A"), reserved("B")) == (0, 0)


def test_a_cancel_that_comes_first_leaves_a_tombstone() -> None:
    stock(A=5)
    order = demand(A=2)
    services.release({order.order_id})
    services.reserve([order, demand(A=1)])
    assert reserved("A") == 1
    assert Reservation.objects.get(pk=order.order_id).state == State.RELEASED
    assert published(StockReserved, key=order.order_id) == []


def test_releasing_a_rejected_order_gives_nothing_back() -> None:
    stock(A=1)
    order, winner = demand(A=1), demand(A=1)
    services.reserve([winner, order])
    services.release({order.order_id})
    assert reserved("A") == 1
    assert Reservation.objects.get(pk=order.order_id).state == State.REJECTED


def test_nothing_to_do_is_no_error() -> None:
    services.reserve([])
    services.release(set())


def test_reserving_takes_the_same_number_of_statements_for_any_bundle() -> None:
    stock(**{f"SKU{number}": 50 for number in range(20)})
    assert len({_statements_to_reserve(size) for size in (2, 10, 100)}) == 1
    assert _statements_to_reserve(1) <= _statements_to_reserve(100) <= 10


def _statements_to_reserve(size: int) -> int:
    orders = [demand(f"SKU{number % 20}", f"SKU{(number * 7 + 1) % 20}") for number in range(size - 1)]
    with CaptureQueriesContext(
        connection,
    ) as statements:
        services.reserve([*orders, demand("nowhere")])
    return len(statements)


def test_releasing_takes_the_same_number_of_statements_for_any_bundle() -> None:
    stock(**{f"SKU{number}": 500 for number in range(20)})
    assert len({_statements_to_release(size) for size in (1, 10, 100)}) == 1


def _statements_to_release(size: int) -> int:
    orders = [demand(f"SKU{number % 20}", f"SKU{(number * 7 + 1) % 20}") for number in range(size)]
    services.reserve(orders)
    with CaptureQueriesContext(connection) as statements:
        services.release({order.order_id for order in orders} | {uuid7()})
    return len(statements)


def test_stock_is_locked_in_sku_order_before_it_is_changed() -> None:
    stock(A=5, B=5)
    with CaptureQueriesContext(connection) as statements:
        services.reserve([demand("B", "A")])
    texts = [statement["sql"] for statement in statements.captured_queries]
    lock = next(number for number, text in enumerate(texts) if "FOR NO KEY UPDATE" in text)
    assert re.search(r'ORDER BY (1|"inventory_stockitem"."sku") ASC', texts[lock])
    assert "ORDER BY order_id" in texts[lock - 1]
    assert "UPDATE inventory_stockitem" in texts[lock + 1]
    assert StockItem.objects.filter(reserved=1).count() == 2
