"""The daily figures: exact sums, whatever comes together."""

import datetime
from decimal import Decimal

import pytest
from django.db import IntegrityError
from uuid_utils.compat import uuid7

from orders import services
from orders.events import OrderCancelled, OrderPlaced
from orders.models import DailySales, SalesIncrement
from tests.orders.factories import at_once

pytestmark = pytest.mark.django_db

NOON = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)


def sale(total: str, *, currency: str = "EUR", placed_at: datetime.datetime = NOON) -> OrderPlaced:
    return OrderPlaced(order_id=uuid7(), placed_at=placed_at, lines=(), total=Decimal(total), currency=currency)


def figures() -> list[tuple[str, str, int, Decimal, int, Decimal]]:
    return [
        (str(day.day), day.currency, day.order_count, day.amount, day.cancelled_count, day.cancelled_amount)
        for day in DailySales.objects.order_by("day", "currency")
    ]


def test_sales_are_added_up_per_day_and_currency(db: None) -> None:
    next_day = NOON + datetime.timedelta(days=1)
    services.record_sales([sale("0.10"), sale("0.20"), sale("5.00", currency="USD"), sale("7.00", placed_at=next_day)])
    services.record_sales([sale("0.30")])
    assert figures() == [
        ("2026-03-01", "EUR", 3, Decimal("0.60"), 0, Decimal(0)),
        ("2026-03-01", "USD", 1, Decimal("5.00"), 0, Decimal(0)),
        ("2026-03-02", "EUR", 1, Decimal("7.00"), 0, Decimal(0)),
    ]


def test_a_cancellation_is_booked_on_the_day_of_its_order_even_before_the_sale(db: None) -> None:
    services.record_cancellation(
        OrderCancelled(order_id=uuid7(), placed_at=NOON, total=Decimal("1.50"), currency="EUR")
    )
    assert figures() == [("2026-03-01", "EUR", 0, Decimal(0), 1, Decimal("1.50"))]


def test_no_sales_are_no_statement(db: None, django_assert_num_queries: pytest.FixtureRequest) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        services.record_sales([])


@pytest.mark.django_db(transaction=True)
def test_bundles_that_meet_on_the_same_days_lose_nothing(transactional_db: None) -> None:
    days = [NOON + datetime.timedelta(days=number) for number in range(5)]
    bundles = [[sale("1.00", placed_at=day) for day in (days if number % 2 else days[::-1])] for number in range(20)]
    at_once(lambda: services.record_sales(bundles.pop()))
    assert [(count, amount) for _, _, count, amount, _, _ in figures()] == [(20, Decimal("20.00"))] * 5


def test_the_database_refuses_negative_figures(db: None) -> None:
    with pytest.raises(IntegrityError, match="daily_sales_not_negative"):
        DailySales.objects.add([SalesIncrement(NOON.date(), "EUR", order_count=-1)])
