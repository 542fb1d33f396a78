import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from inventory.models import Reservation, ReservationLine, StockItem
from tests.inventory.factories import stock

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("reserved", [-1, 6])
def test_the_database_refuses_to_oversell(reserved: int) -> None:
    stock(A=5)
    with pytest.raises(IntegrityError, match="stock_reserved_within_on_hand"), transaction.atomic():
        StockItem.objects.filter(pk="A").update(reserved=reserved)


def test_the_database_refuses_a_count_below_what_is_reserved() -> None:
    stock(A=5)
    StockItem.objects.filter(pk="A").update(reserved=3)
    with pytest.raises(IntegrityError, match="stock_reserved_within_on_hand"), transaction.atomic():
        StockItem.objects.filter(pk="A").update(on_hand=2)


def test_the_database_refuses_shifting_stock_below_zero() -> None:
    stock(A=5)
    with pytest.raises(IntegrityError, match="stock_reserved_within_on_hand"), transaction.atomic():
        StockItem.objects.shift_reserved({"A": -1})


def test_the_database_refuses_an_unknown_state() -> None:
    now = timezone.now()
    with pytest.raises(IntegrityError, match="reservation_state_known"), transaction.atomic():
        Reservation.objects.create(order_id=uuid7(), state="lost", created_at=now, updated_at=now)


def test_the_database_refuses_a_sku_twice_in_a_reservation_and_an_empty_line() -> None:
    stock(A=5)
    order_id = uuid7()
    Reservation.objects.claim([order_id], state=Reservation.State.RESERVED)
    ReservationLine.objects.create(reservation_id=order_id, item_id="A", quantity=1)
    with pytest.raises(IntegrityError, match="reservation_line_once_per_sku"), transaction.atomic():
        ReservationLine.objects.create(reservation_id=order_id, item_id="A", quantity=1)
    with pytest.raises(IntegrityError, match="reservation_line_quantity_positive"), transaction.atomic():
        ReservationLine.objects.filter(reservation=order_id).update(quantity=0)


def test_claiming_returns_only_what_was_not_there() -> None:
    first, second = uuid7(), uuid7()
    assert Reservation.objects.claim([first], state=Reservation.State.RESERVED) == {first}
    assert Reservation.objects.claim([second, first], state=Reservation.State.RELEASED) == {second}
    assert Reservation.objects.get(pk=first).state == Reservation.State.RESERVED


def test_the_newest_reservations_are_found_by_an_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        plan = Reservation.objects.all()[:100].explain()
    assert "reservation_newest_first" in plan
