"""What sending again cannot repair is reported, with an owner."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.recovery import Finding, findings, finds
from baton_messaging.recovery.findings import _checks
from baton_messaging.routing.discovery import discover
from django.db import OperationalError, connection
from django.db.models.functions import Now
from django.utils import timezone
from uuid_utils.compat import uuid7

from inventory.models import Reservation
from orders import services
from orders.models import Order
from tests.orders.factories import a_request, products

pytestmark = pytest.mark.django_db


def an_order_of(*, minutes_ago: float) -> Order:
    """Place an order, and move it into the past: its id tells its age."""
    if not Order.objects.exists():
        products()
    order = services.place_order(a_request())
    at = timezone.now() - timedelta(minutes=minutes_ago)
    old_id, new_id = order.pk, UUID(int=(int(at.timestamp() * 1000) << 80) | (uuid7().int & ((1 << 80) - 1)))
    order.lines.all().delete()
    Order.objects.filter(pk=old_id).update(id=new_id, placed_at=at)
    OutboxMessage.objects.filter(key=str(old_id)).update(key=str(new_id))
    return Order.objects.get(pk=new_id)


def test_an_order_without_a_message_is_found_and_belongs_to_the_shop() -> None:
    told, untold, young = (an_order_of(minutes_ago=minutes) for minutes in (8, 8, 1))
    OutboxMessage.objects.exclude(key=str(told.pk)).delete()
    (found,) = findings()
    assert (found.count, found.examples) == (1, (str(untold.pk),))
    assert found.owner == "Shop team <shop@example.com>"
    assert young.pk != untold.pk


def test_a_processed_order_without_a_reservation_is_found_and_belongs_to_the_warehouse() -> None:
    orders = [an_order_of(minutes_ago=8) for _ in range(2)]
    ids = list(OutboxMessage.objects.values_list("message_id", flat=True))
    ProcessedMessage.objects.claim(consumer="inventory.reserve_stock", message_ids=ids, worker="w")
    ProcessedMessage.objects.update(processed_at=Now() - timedelta(minutes=7))
    Reservation.objects.claim([orders[0].pk], state=Reservation.State.RESERVED)
    (found,) = findings()
    assert (found.count, found.examples) == (1, (str(orders[1].pk),))
    assert found.owner == "Warehouse team <warehouse@example.com>"
    ProcessedMessage.objects.update(worker="replaced by a copy")
    assert findings() == []


@pytest.fixture
def _own_checks() -> Iterator[None]:
    discover("findings")
    before = dict(_checks)
    yield
    _checks.clear()
    _checks.update(before)


@pytest.mark.usefixtures("_own_checks")
def test_a_check_that_fails_keeps_no_other_from_being_run() -> None:
    @finds
    def broken() -> Finding | None:
        raise RuntimeError("a bug")

    @finds
    def sound() -> Finding | None:
        return Finding(what="it", count=1, examples=("a",), owner="us", remedy="mend it")

    assert [finding.what for finding in findings()] == ["it"]


@pytest.mark.usefixtures("_own_checks")
def test_a_check_whose_statement_the_database_refuses_keeps_no_other_from_being_run() -> None:
    @finds
    def a_broken() -> Finding | None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM no_such_table")
        return None

    @finds
    def sound() -> Finding | None:
        return Finding(what="it", count=1, examples=("a",), owner="us", remedy="mend it")

    assert [finding.what for finding in findings()] == ["it"]


@pytest.mark.usefixtures("_own_checks")
def test_a_database_that_is_away_is_no_finding() -> None:
    @finds
    def unlucky() -> Finding | None:
        raise OperationalError("the connection is lost")

    with pytest.raises(OperationalError):
        findings()
