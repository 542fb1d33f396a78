"""The admin: looking, searching, cancelling, and nothing else."""

import datetime
import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from orders import services
from orders.models import DailySales, Order, OrderStatus, Product, SalesIncrement
from orders.search import search
from tests.orders.factories import an_order

pytestmark = pytest.mark.django_db

LIST = "/admin/orders/order/"


def found_by(client: Client, words: str) -> list[Order]:
    page: Any = client.get(LIST, {"q": words})
    return list(page.context["cl"].queryset)


def test_orders_are_found_by_what_people_call_them(catalogue: None, admin_client: Client) -> None:
    order, other = an_order(), an_order()
    number = order.reference
    spaced, full_width = f" #{number[:4]} {number[4:]} ", "".join(chr(ord(sign) + 0xFEE0) for sign in number)
    for words in (str(order.pk), str(order.pk).upper(), number, number.lower(), number[-8:], spaced, full_width):
        assert found_by(admin_client, words) == [order], words
    assert len(admin_client.get(LIST).context["cl"].queryset) == 2
    assert other.reference != order.reference


def test_orders_are_found_by_their_customer(catalogue: None, admin_client: Client) -> None:
    order, other = an_order(), an_order()
    Order.objects.filter(pk=order.pk).update(customer_name="Ann Archer", customer_email="archer@example.net")
    Order.objects.filter(pk=other.pk).update(customer_name="Bob Archer", customer_email="bob@example.net")
    for words in ("ann archer", "ARCHER@example.net", "archer ann", '"Ann Archer"', "ann@", "archer@"):
        assert found_by(admin_client, words) == ([order] if words != "ann@" else []), words
    assert len(found_by(admin_client, "archer")) == 2


def test_a_number_is_found_by_its_index(catalogue: None) -> None:
    order = an_order()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "order_by_reference" in search(Order.objects.order_by(), order.reference).explain()


def test_an_order_is_shown_with_its_lines_and_its_way(catalogue: None, admin_client: Client) -> None:
    order = an_order(MUG=2)
    page = admin_client.get(f"{LIST}{order.pk}/change/").content.decode()
    for words in ("inventory.reserve_stock", "Warehouse team", "MUG", "ann@example.com"):
        assert words in page
    assert 'name="_save"' not in page


@pytest.mark.parametrize("path", [f"{LIST}add/", "/admin/orders/dailysales/add/"])
def test_orders_and_figures_are_not_made_by_hand(db: None, admin_client: Client, path: str) -> None:
    assert admin_client.get(path).status_code == 403


def test_orders_cannot_be_deleted(catalogue: None, admin_client: Client) -> None:
    order = an_order()
    assert admin_client.post(f"{LIST}{order.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Order.objects.exists()


def test_the_action_cancels_what_is_not_settled_and_says_so(catalogue: None, admin_client: Client) -> None:
    accepted, confirmed = an_order(), an_order()
    services.confirm_order(confirmed.pk)
    chosen = {"action": "cancel_orders", "_selected_action": [str(accepted.pk), str(confirmed.pk)]}
    page = admin_client.post(LIST, chosen, follow=True).content.decode()
    assert "1 order is cancelled." in page
    assert "1 order was settled already" in page
    statuses = {order.pk: order.status for order in Order.objects.all()}
    assert statuses == {accepted.pk: OrderStatus.CANCELLED, confirmed.pk: OrderStatus.CONFIRMED}


def test_the_action_counts_right_under_a_filter_that_its_work_empties(catalogue: None, admin_client: Client) -> None:
    order = an_order()
    chosen = {"action": "cancel_orders", "_selected_action": [str(order.pk)]}
    page = admin_client.post(f"{LIST}?status__exact=accepted", chosen, follow=True).content.decode()
    assert "1 order is cancelled." in page


def test_who_may_only_look_cannot_cancel(catalogue: None, client: Client, django_user_model: type[User]) -> None:
    viewer = django_user_model.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_order"))
    client.force_login(viewer)
    order = an_order()
    client.post(LIST, {"action": "cancel_orders", "_selected_action": [str(order.pk)]})
    assert Order.objects.get().status == OrderStatus.ACCEPTED


def test_the_list_takes_the_same_queries_for_one_order_and_for_ten(catalogue: None, admin_client: Client) -> None:
    an_order()
    with CaptureQueriesContext(connection) as one:
        admin_client.get(LIST)
    for _ in range(9):
        an_order()
    with CaptureQueriesContext(connection) as ten:
        admin_client.get(LIST)
    assert len(one) == len(ten)


def test_a_product_keeps_its_sku(catalogue: None, admin_client: Client) -> None:
    address = reverse("admin:orders_product_change", args=["MUG"])
    data = {"sku": "CUP", "name": "Cup", "name_ja": "", "price": "9.75", "currency": "EUR", "is_active": "on"}
    admin_client.post(address, data)
    assert Product.objects.get(pk="MUG").name == "Cup"
    assert not Product.objects.filter(pk="CUP").exists()


def test_a_products_name_is_one_line(catalogue: None, admin_client: Client) -> None:
    address = reverse("admin:orders_product_change", args=["MUG"])
    data = {"name": "Cup\nBcc: all@example.com", "name_ja": "", "price": "9.75", "currency": "EUR", "is_active": "on"}
    page: Any = admin_client.post(address, data)
    assert "name" in page.context["adminform"].form.errors


def test_daily_sales_are_listed(db: None, admin_client: Client) -> None:
    DailySales.objects.add([SalesIncrement(datetime.date(2026, 3, 1), "EUR", order_count=7)])
    assert re.search(r"2026|March", admin_client.get("/admin/orders/dailysales/").content.decode())
