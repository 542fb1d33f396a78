"""What the reconciler reports about orders, and about what inventory made of them."""

from datetime import timedelta
from uuid import UUID

import pytest
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.publish import publish
from baton_messaging.recovery.findings import contradicting, findings
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from uuid_utils.compat import uuid7

from inventory.events import StockReserved
from inventory.models import Reservation
from orders import services
from orders.exports.files import storage
from orders.models import DailySales, Export, Order, SalesIncrement
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
    assert str(found.found) == f"1: {untold.pk}"
    assert str(found.owner) == "Shop team <shop@example.com>"
    assert young.pk != untold.pk


def test_a_processed_order_without_a_reservation_is_found_and_belongs_to_the_warehouse() -> None:
    orders = [an_order_of(minutes_ago=8) for _ in range(2)]
    ids = list(OutboxMessage.objects.values_list("message_id", flat=True))
    ProcessedMessage.objects.claim(consumer="inventory.reserve_stock", message_ids=ids, worker="w")
    ProcessedMessage.objects.update(processed_at=Now() - timedelta(minutes=7))
    Reservation.objects.claim([orders[0].pk], state=Reservation.State.RESERVED)
    (found,) = findings()
    assert str(found.found) == f"1: {orders[1].pk}"
    assert str(found.owner) == "Warehouse team <warehouse@example.com>"
    ProcessedMessage.objects.update(worker="replaced by a copy")
    assert findings() == []


def test_an_export_whose_file_the_web_cannot_see_belongs_to_the_platform() -> None:
    at = timezone.now() - timedelta(minutes=8)
    export = Export.objects.create(
        format="csv", language="en", state="ready", file_name="elsewhere.csv", rows_total=0, size_bytes=3,
        started_at=at, finished_at=at, expires_at=at + timedelta(days=1), attempt_count=1,
    )  # fmt: skip
    (found,) = findings()
    assert str(found.found) == f"1: {export.pk}"
    assert str(found.owner) == "Platform team <platform@example.com>"
    assert list(contradicting([str(export.pk)])) == [str(export.pk)]


def test_an_export_whose_file_is_cut_short_belongs_to_the_platform() -> None:
    name = f"{uuid7()}.csv"
    at = timezone.now() - timedelta(minutes=8)
    export = Export.objects.create(
        format="csv", language="en", state="ready", file_name=name, rows_total=0, size_bytes=3,
        started_at=at, finished_at=at, expires_at=at + timedelta(days=1), attempt_count=1,
    )  # fmt: skip
    storage().save(name, ContentFile(b""))
    (found,) = contradicting([str(export.pk)])[str(export.pk)]
    assert (str(found.found), str(found.owner)) == (f"1: {export.pk}", "Platform team <platform@example.com>")
    storage().delete(name)
    storage().save(name, ContentFile(b"a\r\n"))
    assert contradicting([str(export.pk)]) == {}
    storage().delete(name)


def test_a_sale_whose_day_has_no_figures_is_found() -> None:
    order = an_order_of(minutes_ago=8)
    ids = list(OutboxMessage.objects.values_list("message_id", flat=True))
    ProcessedMessage.objects.claim(consumer="orders.record_sale", message_ids=ids, worker="w")
    ProcessedMessage.objects.update(processed_at=Now() - timedelta(minutes=7))
    (found,) = findings()
    assert (str(found.found), str(found.owner)) == (f"1: {order.pk}", "Shop team <shop@example.com>")
    DailySales.objects.add([SalesIncrement(timezone.localdate(order.placed_at), "EUR", order_count=1)])
    assert findings() == []


def test_figures_of_a_day_that_count_more_or_fewer_than_there_are_contradict_its_orders() -> None:
    orders = [an_order_of(minutes_ago=8) for _ in range(2)]
    ids = list(OutboxMessage.objects.values_list("message_id", flat=True))
    ProcessedMessage.objects.claim(consumer="orders.record_sale", message_ids=ids, worker="w")
    DailySales.objects.add([SalesIncrement(timezone.localdate(orders[0].placed_at), "EUR", order_count=1)])
    key = str(orders[0].pk)
    (found,) = contradicting([key])[key]
    assert found.consumers == ("orders.record_sale",)
    DailySales.objects.update(order_count=2)
    assert contradicting([key]) == {}
    DailySales.objects.update(order_count=3)
    assert key in contradicting([key])


def test_an_order_whose_answer_was_processed_and_that_still_waits_is_found_at_once_and_a_day_later() -> None:
    order = an_order_of(minutes_ago=1)
    with transaction.atomic():
        (message_id,) = publish(StockReserved(order_id=order.pk))
    ProcessedMessage.objects.claim(consumer="orders.confirm_order", message_ids=[message_id], worker="w")
    for age in (timedelta(0), timedelta(hours=20)):
        ProcessedMessage.objects.update(processed_at=Now() - age)
        (found,) = findings(looked_at_for=timedelta(days=1))
        assert (str(found.found), str(found.owner)) == (f"1: {order.pk}", "Shop team <shop@example.com>")
    assert findings() == []
    for status, is_right in (("confirmed", True), ("rejected", False), ("cancelled", True)):
        Order.objects.update(status=status, settled_at=timezone.now())
        assert (findings(looked_at_for=timedelta(days=1)) == []) == is_right
