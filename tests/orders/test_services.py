"""Placing and cancelling: all or nothing, once per key."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from baton_messaging.testing import assert_published, published
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from orders import services
from orders.errors import (
    IdempotencyKeyReused,
    OneCurrencyOnly,
    OrderAlreadySettled,
    OrderNotFound,
    OrderRefused,
    TotalTooLarge,
    UnknownProducts,
)
from orders.events import Line, OrderCancelled, OrderPlaced
from orders.models import Order, OrderLine, OrderStatus, Product
from tests.orders.factories import a_request, an_order, at_once

pytestmark = pytest.mark.django_db

NOBODY = UUID("01900000-0000-7000-8000-000000000000")


def nothing_was_written() -> bool:
    return not (Order.objects.exists() or OrderLine.objects.exists() or published())


def test_an_order_its_lines_and_its_message_are_written_together(catalogue: None) -> None:
    order = services.place_order(a_request(MUG=2, PEN=1))
    assert (order.status, order.total, order.currency) == (OrderStatus.ACCEPTED, Decimal("64.00"), "EUR")
    assert [(line.product_id, line.quantity, line.unit_price) for line in order.lines.all()] == [
        ("MUG", 2, Decimal("9.50")),
        ("PEN", 1, Decimal("45.00")),
    ]
    placed = assert_published(OrderPlaced)
    assert placed.lines == (Line(sku="MUG", quantity=2), Line(sku="PEN", quantity=1))
    assert (placed.order_id, placed.total, placed.currency) == (order.pk, Decimal("64.00"), "EUR")


def test_the_message_holds_no_personal_data(catalogue: None) -> None:
    an_order()
    kept = assert_published(OrderPlaced).model_dump_json()
    assert "Ann" not in kept
    assert "ann@" not in kept


def test_what_is_rolled_back_leaves_no_message(catalogue: None) -> None:
    with transaction.atomic():
        an_order()
        transaction.set_rollback(True)
    assert nothing_was_written()


def test_an_order_costs_five_statements(catalogue: None) -> None:
    """Products, order, lines, message, deadline: the time of POST /api/orders is mostly theirs."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        services.place_order(a_request(MUG=1, PEN=1))
    statements = [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]
    assert len(statements) == 5, statements


@pytest.mark.parametrize(
    ("quantities", "error", "fields"),
    [
        ({"MUG": 1, "NOPE": 1, "OLD": 1}, UnknownProducts, ("lines.1.sku", "lines.2.sku")),
        ({"MUG": 1, "DOLLAR": 1}, OneCurrencyOnly, ("lines",)),
        ({"DEAR": 10_000}, TotalTooLarge, ("lines",)),
    ],
)
def test_what_the_catalogue_does_not_allow_is_refused(
    catalogue: None, quantities: dict[str, Any], error: type[OrderRefused], fields: tuple[str, ...]
) -> None:
    with pytest.raises(error) as refusal:
        services.place_order(a_request(**quantities))
    assert refusal.value.fields == fields
    assert nothing_was_written()


def test_the_price_of_then_stays_when_the_product_gets_dearer(catalogue: None) -> None:
    order = an_order(MUG=2)
    Product.objects.filter(pk="MUG").update(price=Decimal("99.00"))
    assert order.lines.get().unit_price == Decimal("9.50")


def test_the_same_key_and_content_is_the_same_order(catalogue: None) -> None:
    first = services.place_order(a_request(), idempotency_key="k")
    assert services.place_order(a_request(), idempotency_key="k") == first
    assert Order.objects.count() == len(published()) == 1


def test_a_repeated_request_gets_its_order_even_if_the_product_has_gone(catalogue: None) -> None:
    first = services.place_order(a_request(), idempotency_key="k")
    Product.objects.update(is_active=False)
    assert services.place_order(a_request(), idempotency_key="k") == first


def test_the_same_key_with_other_content_is_refused(catalogue: None) -> None:
    first = services.place_order(a_request(MUG=2), idempotency_key="k")
    with pytest.raises(IdempotencyKeyReused) as refusal:
        services.place_order(a_request(MUG=3), idempotency_key="k")
    assert refusal.value.order_id == first.pk
    assert Order.objects.count() == len(published()) == 1


def test_a_refused_order_does_not_use_up_its_key(catalogue: None) -> None:
    with pytest.raises(UnknownProducts):
        services.place_order(a_request(NOPE=1), idempotency_key="k")
    assert services.place_order(a_request(MUG=1), idempotency_key="k").status == OrderStatus.ACCEPTED


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_with_one_key_are_one_order(committed_catalogue: None) -> None:
    orders = at_once(lambda: services.place_order(a_request(), idempotency_key="k"))
    assert len({order.pk for order in orders}) == 1
    assert Order.objects.count() == len(published()) == OrderLine.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_fifty_orders_of_the_same_products_in_opposite_order_all_succeed(committed_catalogue: None) -> None:
    requests = [a_request(MUG=1, PEN=1), a_request(PEN=1, MUG=1)] * 25
    at_once(lambda: services.place_order(requests.pop()), times=50)
    assert Order.objects.count() == 50


def test_cancelling_publishes_once_however_often_it_is_asked(catalogue: None) -> None:
    order = an_order()
    assert services.cancel_order(order.pk).status == OrderStatus.CANCELLED
    assert services.cancel_order(order.pk).status == OrderStatus.CANCELLED
    cancelled = assert_published(OrderCancelled)
    assert (cancelled.order_id, cancelled.total) == (order.pk, Decimal("19.00"))


@pytest.mark.django_db(transaction=True)
def test_twenty_that_cancel_at_once_publish_once(committed_catalogue: None) -> None:
    order = an_order()
    at_once(lambda: services.cancel_order(order.pk))
    assert_published(OrderCancelled)


@pytest.mark.parametrize("settle", [services.confirm_order, services.reject_order])
def test_a_settled_order_cannot_be_cancelled(catalogue: None, settle: Any) -> None:
    order = an_order()
    settle(order.pk)
    with pytest.raises(OrderAlreadySettled, match="Only an accepted order can be cancelled"):
        services.cancel_order(order.pk)
    assert published(OrderCancelled) == []


def test_an_unknown_order_cannot_be_cancelled(db: None) -> None:
    with pytest.raises(OrderNotFound, match=str(NOBODY)):
        services.cancel_order(NOBODY)


@pytest.mark.parametrize("settle", [services.confirm_order, services.reject_order])
def test_a_cancelled_order_stays_cancelled(catalogue: None, settle: Any) -> None:
    order = an_order()
    services.cancel_order(order.pk)
    settle(order.pk)
    assert Order.objects.get(pk=order.pk).status == OrderStatus.CANCELLED


def test_a_request_shows_no_personal_data_in_logs_and_tracebacks() -> None:
    assert "Ann" not in repr(a_request())
