"""Which orders an export holds: days of the project's time zone, also those of 23 or 25 hours, or without midnight."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from orders.exports.selection import Selection
from orders.models import Order
from tests.orders.exports.factories import Row, many_orders, written
from tests.orders.exports.readers import read_csv, read_xlsx
from tests.orders.factories import products

pytestmark = pytest.mark.django_db


def placed_every_half_hour(first: datetime, last: datetime) -> None:
    """Place an order at the first moment and one each half hour, up to the last moment."""
    moments = [first + number * timedelta(minutes=30) for number in range((last - first) // timedelta(minutes=30) + 1)]
    products()
    many_orders(len(moments))
    for order, moment in zip(Order.objects.order_by("pk"), moments, strict=True):
        Order.objects.filter(pk=order.pk).update(placed_at=moment)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", date(2026, 3, 29), 23),
        ("Europe/Berlin", date(2026, 10, 25), 25),
        ("America/Havana", date(2026, 3, 8), 23),  # at midnight, clocks go to one
        ("America/Havana", date(2026, 11, 1), 25),  # the first hour comes twice
        ("Asia/Tokyo", date(2026, 3, 29), 24),
        ("UTC", date(2026, 3, 29), 24),
    ],
)
def test_a_day_has_the_hours_that_it_has_on_the_shops_clock(settings: Any, zone: str, day: date, hours: int) -> None:
    settings.TIME_ZONE = zone
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    placed_every_half_hour(noon - timedelta(hours=30), noon + timedelta(hours=30))
    found = Selection(from_day=day, to_day=day).orders()
    assert found.count() == 2 * hours
    assert {timezone.localtime(order.placed_at).date() for order in found} == {day}


@pytest.mark.parametrize("days", [{"from_day": date(1900, 1, 1)}, {"to_day": date(2999, 12, 31)}])
def test_the_widest_periods_hold_everything(days: dict[str, Any]) -> None:
    products()
    many_orders(3)
    assert Selection(**days).orders().count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_moment_stands_on_the_shops_clock_in_both_formats(settings: Any, tmp_path: Path) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    hour = timedelta(hours=1)
    first = datetime(2026, 10, 24, 23, 30, tzinfo=UTC)  # half past one in the morning, the last time but two
    rows = [Row("", moment=first + number * hour) for number in range(4)]
    expected = ["2026-10-25 01:30:00", "2026-10-25 02:30:00", "2026-10-25 02:30:00", "2026-10-25 03:30:00"]
    assert [row[3] for row in read_csv(written(tmp_path / "m.csv", rows, "csv"))[1:]] == expected
    assert [str(row[3]) for row in read_xlsx(written(tmp_path / "m.xlsx", rows, "xlsx"))[1:]] == expected
