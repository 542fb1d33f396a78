"""What orders and exports tell triage of their ids, and the API that the staff lookups."""

import json
from contextlib import suppress
from datetime import timedelta
from io import StringIO
from uuid import UUID, uuid4

import pytest
from baton_messaging.models import DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import Reason
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from orders.exports.models import Export
from orders.exports.states import ExportState, Failure
from orders.exports.triage import find_exports, unsettled_exports
from orders.models import Order
from orders.triage import find_orders, unsettled_orders
from tests.orders.factories import an_order, products

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


@pytest.fixture
def order() -> Order:
    products()
    return an_order()


def test_an_accepted_order_waits_for_the_stocks_answer(order: Order) -> None:
    found = find_orders([str(order.pk), str(uuid4()), "no id at all"])
    assert list(found) == [str(order.pk)]
    subject = found[str(order.pk)]
    assert (subject.is_settled, subject.awaited) == (False, ("inventory.stock_reserved", "inventory.stock_rejected"))
    Order.objects.confirm(order.pk)
    settled = find_orders([str(order.pk)])[str(order.pk)]
    assert (settled.is_settled, settled.awaited) == (True, ())


def test_orders_are_unsettled_until_they_leave_accepted(order: Order) -> None:
    later = timezone.now() + timedelta(seconds=1)
    assert list(unsettled_orders(later, 10)) == [str(order.pk)]
    assert list(unsettled_orders(order.placed_at, 10)) == []
    Order.objects.reject(order.pk)
    assert list(unsettled_orders(later, 10)) == []


def test_an_exports_row_says_how_its_work_stands() -> None:
    export = Export.objects.create(format="csv", language="en")
    later = timezone.now() + timedelta(seconds=1)
    assert find_exports([str(export.pk)])[str(export.pk)].works["orders.build_export"].state == "waiting"
    assert list(unsettled_exports(later, 10)) == [str(export.pk)]
    hold = Export.objects.claim(export.pk, worker="bulk@host")
    assert hold is not None
    running = find_exports([str(export.pk)])[str(export.pk)].works["orders.build_export"]
    assert (running.state, running.worker) == ("running", "bulk@host")
    Export.objects.fail(hold, Failure.STORAGE)
    failed = find_exports([str(export.pk)])[str(export.pk)]
    assert (failed.works["orders.build_export"].state, failed.is_settled) == ("failed", True)
    assert Export.objects.get().state == ExportState.FAILED


def a_watcher() -> User:
    user = User.objects.create_user("sam", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_deadletter"))
    return user


def test_the_api_answers_the_staff_and_nobody_else(order: Order) -> None:
    address = f"/api/orders/{order.pk}/triage"
    assert Client().get(address).status_code == 401
    customer, staff = Client(), Client()
    customer.force_login(User.objects.create_user("carl"))
    staff.force_login(a_watcher())
    assert customer.get(address).status_code == 401
    answer = staff.get(address)
    assert answer.status_code == 200
    verdicts = {verdict["consumer"]: verdict for verdict in answer.json()["verdicts"]}
    assert set(verdicts) == {"inventory.reserve_stock", "notifications.send_order_received", "orders.record_sale"}
    assert verdicts["inventory.reserve_stock"]["state"] == "relay stalled"
    assert staff.get(f"/api/orders/{uuid4()}/triage").status_code == 404


def run(*words: str) -> tuple[int, str]:
    """Return the exit code of ``manage.py triage``, and what it prints."""
    out = StringIO()
    try:
        call_command("triage", *words, stdout=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def test_an_order_without_its_message_is_the_shops(order: Order) -> None:
    OutboxMessage.objects.all().delete()
    code, text = run(str(order.pk))
    assert code == 1
    assert "not published (the row has no message)\n  whose   Shop team <shop@example.com>" in text
    Order.objects.update(placed_at=timezone.now() - timedelta(minutes=6))
    assert "1  not published" in run("--stuck")[1]


def test_messages_without_their_order_are_the_shops(order: Order) -> None:
    order_id = order.pk
    order.lines.all().delete()
    order.delete()
    text = run(str(order_id))[1]
    assert f"{order_id}: its row is gone (a message tells of it)\n  whose   Shop team" in text
    assert "inventory.reserve_stock: relay stalled" in text


def test_the_page_of_an_order_is_for_the_staff(order: Order) -> None:
    address = reverse("order_triage", args=[order.pk])
    customer, staff = Client(), Client()
    customer.force_login(User.objects.create_user("carl"))
    staff.force_login(a_watcher())
    for client in (Client(), customer):
        assert client.get(address).status_code == 302
    assert (staff.get(address).status_code, staff.head(address).status_code) == (200, 200)


def as_typed(number: str) -> list[str]:
    return [number, number.lower(), f" #{number[:6]} {number[6:]}\t", number[-6:]]


def test_an_order_or_export_is_found_by_the_number_that_people_see(order: Order, admin_client: Client) -> None:
    export = Export.objects.create(format="csv", language="en")
    for row in (order, export):
        for typed in as_typed(row.reference):
            answer = admin_client.get(reverse("triage"), {"id": typed})
            assert (answer.status_code, answer["Location"]) == (302, reverse("triage_of", args=[row.pk])), typed
            told = StringIO()
            with suppress(SystemExit):  # whether somebody must act is not asked here
                call_command("triage", typed, format="json", stdout=told)
            assert json.loads(told.getvalue())["id"] == str(row.pk), typed
    answer = admin_client.get(f"/api/orders/{order.reference.lower()}/triage")
    assert (answer.status_code, answer.json()["id"]) == (200, str(order.pk))
    assert admin_client.get("/api/orders/FFFFFFFFFFFF/triage").status_code == 404


def test_a_number_of_several_rows_is_a_list(order: Order, admin_client: Client) -> None:
    twin = Export.objects.create(format="csv", language="en", id=UUID(f"{uuid4()!s:.24}{order.reference}"))
    page = admin_client.get(reverse("triage"), {"id": order.reference})
    assert page.status_code == 300
    for row in (order, twin):
        assert reverse("triage_of", args=[row.pk]) in page.content.decode()
    assert admin_client.get(reverse("triage_of", args=[order.reference])).status_code == 300
    answer = admin_client.get(f"/api/orders/{order.reference}/triage")
    assert answer.status_code == 409
    assert str(twin.pk) in str(answer.json())
    with pytest.raises(CommandError, match=f"order {order.pk}, export {twin.pk}"):
        call_command("triage", order.reference)


def test_digits_are_a_dead_letter_s_number_or_an_order_s_whichever_there_is(admin_client: Client) -> None:
    export = Export.objects.create(format="csv", language="en", id=UUID("019a0000-0000-7000-8000-000000987654"))
    assert admin_client.get(reverse("triage"), {"id": "987654"})["Location"].endswith(f"{export.pk}/")
    DeadLetter.objects.create(
        pk=987654, died_at=timezone.now(), reason=Reason.PERMANENT_ERROR, consumer="x.y", task_id="1", owner="X"
    )
    page = admin_client.get(reverse("triage"), {"id": "987654"})
    assert page.status_code == 300
    assert reverse("admin:baton_messaging_deadletter_change", args=[987654]) in page.content.decode()
