"""The admin over HTTP, as a browser uses it."""

from threading import Thread

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from inventory import services
from inventory.models import Reservation, StockItem
from tests.inventory.factories import demand, reserved, stock, wait_until_blocked

pytestmark = pytest.mark.django_db


def edit(client: Client, item: str, **fields: object) -> tuple[int, str]:
    response = client.post(reverse("admin:inventory_stockitem_change", args=[item]), fields)
    return response.status_code, response.content.decode()


def test_stock_is_listed_with_what_is_left(admin_client: Client) -> None:
    stock(A=12_345)
    services.reserve([demand(A=345)])
    page = admin_client.get(reverse("admin:inventory_stockitem_changelist")).content.decode()
    for figure in ("12345", "345", "12000"):
        assert figure in page.replace(",", "")


def test_a_new_count_is_saved(admin_client: Client) -> None:
    stock(A=5)
    assert edit(admin_client, "A", on_hand=9)[0] == 302
    assert StockItem.objects.get().on_hand == 9


def test_a_new_item_can_be_added(admin_client: Client) -> None:
    response = admin_client.post(reverse("admin:inventory_stockitem_add"), {"sku": "NEW", "on_hand": 3})
    assert response.status_code == 302
    assert StockItem.objects.get().available == 3


@pytest.mark.parametrize(
    ("on_hand", "message"),
    [
        (1, "2 pieces are reserved for orders: enter that many or more"),
        (-1, "Enter 0 or more."),
        ("many", "Enter a whole number"),
        (10**12, "less than or equal to 2147483647"),
    ],
)
def test_a_count_that_breaks_the_constraint_is_a_clear_error(
    admin_client: Client, on_hand: object, message: str
) -> None:
    stock(A=5)
    services.reserve([demand(A=2)])
    status, page = edit(admin_client, "A", on_hand=on_hand)
    assert (status, StockItem.objects.get().on_hand) == (200, 5)
    assert message in page


def test_a_negative_count_of_a_new_item_is_a_clear_error(admin_client: Client) -> None:
    response = admin_client.post(reverse("admin:inventory_stockitem_add"), {"sku": "NEW", "on_hand": -1})
    assert "Enter 0 or more." in response.content.decode()
    assert not StockItem.objects.exists()


def test_sku_and_reserved_cannot_be_edited(admin_client: Client) -> None:
    stock(A=5)
    services.reserve([demand(A=2)])
    edit(admin_client, "A", on_hand=6, reserved=0, sku="B")
    assert (StockItem.objects.get().sku, reserved("A")) == ("A", 2)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("pieces", "status", "on_hand"), [(2, 302, 3), (4, 200, 5)])
def test_a_count_saved_while_stock_is_reserved_is_checked_against_the_reservation(
    admin_client: Client, pieces: int, status: int, on_hand: int
) -> None:
    stock(A=5)
    answers: list[int] = []

    def save() -> None:
        try:
            answers.append(edit(admin_client, "A", on_hand=3)[0])
        finally:
            connection.close()

    with transaction.atomic():
        services.reserve([demand(A=pieces)])
        thread = Thread(target=save)
        thread.start()
        wait_until_blocked(thread)
    thread.join(timeout=30)
    item = StockItem.objects.get()
    assert answers == [status]
    assert (item.on_hand, item.reserved) == (on_hand, pieces)


def test_an_item_that_reservations_refer_to_cannot_be_deleted(admin_client: Client) -> None:
    stock(A=5)
    services.reserve([demand(A=2)])
    admin_client.post(reverse("admin:inventory_stockitem_delete", args=["A"]), {"post": "yes"})
    assert StockItem.objects.filter(pk="A").exists()


def test_reservations_are_shown_with_their_lines_and_cannot_be_changed(admin_client: Client) -> None:
    stock(A=5)
    order = demand(A=2)
    services.reserve([order])
    url = reverse("admin:inventory_reservation_change", args=[order.order_id])
    page = admin_client.get(url).content.decode()
    assert str(order.order_id) in page
    assert "2 × A" in page
    assert admin_client.post(url, {"state": "released"}).status_code == 403
    assert admin_client.get(reverse("admin:inventory_reservation_add")).status_code == 403
    assert admin_client.post(reverse("admin:inventory_reservation_delete", args=[order.order_id])).status_code == 403
    assert Reservation.objects.get().state == Reservation.State.RESERVED


@pytest.mark.parametrize("term", ["0198f5b0-0000-7000-8000-000000000001", "no such thing", "%00"])
def test_searching_reservations_for_anything_is_no_error(admin_client: Client, term: str) -> None:
    now = timezone.now()
    Reservation.objects.create(
        order_id="0198f5b0-0000-7000-8000-000000000001", state="rejected", created_at=now, updated_at=now
    )
    response = admin_client.get(reverse("admin:inventory_reservation_changelist"), {"q": term})
    assert response.status_code == 200
    assert response.context["cl"].result_count == (1 if term.startswith("0198") else 0)
