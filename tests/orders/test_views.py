"""The pages: what they show, what they refuse, and what htmx gets."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from baton_messaging.models import Attempt, OutboxMessage
from baton_messaging.testing import pretend_processed, published
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from uuid_utils.compat import uuid7

from inventory.models import StockItem
from orders import services, timeline
from orders.models import Order, OrderStatus, Product
from orders.placer import token_of
from tests.orders.factories import an_order, at_once

pytestmark = pytest.mark.django_db

Page = Any


def form_data(**changes: str) -> dict[str, str]:
    return {
        "token": str(uuid7()),
        "customer_name": "Ann Example",
        "customer_email": "ann@example.com",
        "note": "",
        "quantity-MUG": "2",
        "quantity-PEN": "",
        **changes,
    }


def text_of(page: Page) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.content.decode()))


def settle(order: Order) -> None:
    services.confirm_order(order.pk)
    pretend_processed(order.pk)


def test_the_home_page_shows_what_is_on_sale(catalogue: None, client: Client) -> None:
    text = text_of(client.get("/"))
    assert "Blue mug" in text
    assert "9.50 EUR" in text
    assert "Out of the catalogue" not in text


def test_the_home_page_takes_few_queries_whatever_is_sold(
    catalogue: None, client: Client, django_assert_max_num_queries: Any
) -> None:
    for _ in range(8):
        an_order()
    with django_assert_max_num_queries(3):
        client.get("/")


def test_recent_orders_show_no_more_than_their_state(catalogue: None, client: Client) -> None:
    order = an_order()
    page = client.get("/").content.decode()
    assert order.get_absolute_url() not in page
    assert not re.search("Ann|ann@|ring twice", page)


def test_a_form_becomes_an_order_and_leads_to_its_page(catalogue: None, client: Client) -> None:
    answer = client.post("/orders/", form_data(**{"quantity-PEN": "1"}))
    order = Order.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/orders/{order.pk}/")
    assert [(line.product_id, line.quantity) for line in order.lines.all()] == [("MUG", 2), ("PEN", 1)]
    assert order.total == Decimal("64.00")


def test_an_order_keeps_the_language_of_the_page(catalogue: None, client: Client) -> None:
    client.post("/orders/", form_data(), headers={"Accept-Language": "ja"})
    assert Order.objects.get().language == "ja"


def test_the_token_of_the_form_is_new_on_each_page(catalogue: None, client: Client) -> None:
    tokens = {client.get("/").context["form"]["token"].value() for _ in range(2)}
    assert len(tokens) == 2


@pytest.mark.django_db(transaction=True)
def test_twenty_clicks_on_one_form_are_one_order_and_lead_to_it(committed_catalogue: None) -> None:
    data = form_data()
    answers = at_once(lambda: Client().post("/orders/", data))
    order = Order.objects.get()
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {(302, f"/orders/{order.pk}/")}
    assert len(published()) == 1


def test_a_used_form_that_was_changed_asks_before_it_orders_again(catalogue: None, client: Client) -> None:
    data = form_data()
    client.post("/orders/", data)
    page: Page = client.post("/orders/", {**data, "quantity-MUG": "3"})
    first = Order.objects.get()
    assert page.status_code == 422
    assert f'<a href="{first.get_absolute_url()}">' in page.content.decode()
    fresh = page.context["form"]["token"].value()
    assert fresh != data["token"]
    client.post("/orders/", {**data, "quantity-MUG": "3", "token": fresh})
    assert Order.objects.count() == 2


BAD_FORMS: dict[str, tuple[dict[str, str], str]] = {
    "no name": ({"customer_name": " "}, "customer_name"),
    "name with newline": ({"customer_name": "Ann\nBcc: all@example.com"}, "customer_name"),
    "name with NUL": ({"customer_name": "A\x00"}, "customer_name"),
    "name too long": ({"customer_name": "a" * 201}, "customer_name"),
    "no e-mail": ({"customer_email": "ann"}, "customer_email"),
    "note with newline": ({"note": "a\nb"}, "note"),
    "negative quantity": ({"quantity-MUG": "-1"}, "quantity-MUG"),
    "half a piece": ({"quantity-MUG": "1.5"}, "quantity-MUG"),
    "exponent": ({"quantity-MUG": "1e3"}, "quantity-MUG"),
    "NaN": ({"quantity-MUG": "NaN"}, "quantity-MUG"),
    "huge quantity": ({"quantity-MUG": "99999999999"}, "quantity-MUG"),
    "endless quantity": ({"quantity-MUG": "9" * 5000}, "quantity-MUG"),
    "nothing chosen": ({"quantity-MUG": "0"}, "__all__"),
    "gone product": ({"quantity-OLD": "1"}, "__all__"),
    "two currencies": ({"quantity-DOLLAR": "1"}, "__all__"),
    "total too large": ({"quantity-DEAR": "10000"}, "__all__"),
    "no token": ({"token": ""}, "__all__"),
    "odd token": ({"token": "x"}, "__all__"),
}


@pytest.mark.parametrize("case", BAD_FORMS)
def test_a_bad_form_comes_back_with_what_was_typed(catalogue: None, client: Client, case: str) -> None:
    changes, field = BAD_FORMS[case]
    page: Page = client.post("/orders/", form_data(**{"customer_name": "Typed Name", "note": "typed", **changes}))
    assert page.status_code == 422
    assert field in page.context["form"].errors
    assert 'class="errorlist' in page.content.decode()
    typed = {"customer_name": "Typed Name", **changes}["customer_name"]
    assert page.context["form"]["customer_name"].value() == typed
    assert not Order.objects.exists()


def test_a_form_without_a_csrf_token_is_turned_away(catalogue: None) -> None:
    page: Page = Client(enforce_csrf_checks=True).post("/orders/", form_data())
    assert page.status_code == 403
    assert "This form has expired" in text_of(page)
    assert not Order.objects.exists()


TECHNICAL = ("waiting to be sent", "Warehouse team", "of at most", "reserve_stock", "/triage/", "Next attempt")


def test_a_customer_sees_steps_states_and_what_comes_next(catalogue: None, client: Client) -> None:
    order = an_order()
    Attempt.objects.create(
        consumer="inventory.reserve_stock",
        message_id=OutboxMessage.objects.get().message_id,
        key=str(order.pk),
        attempt=1,
        envelope={},
        error_class="KeyError",
        due_at=timezone.now() + timedelta(minutes=3),
    )
    page = client.get(order.get_absolute_url())
    text = text_of(page)
    for words in (order.reference, "Reserve the stock", "in progress", "delayed; it is tried again", "Next, you get a"):
        assert words in text, words
    for words in (*TECHNICAL, "KeyError", "Ann", "ann@", "ring twice"):
        assert words not in page.content.decode(), words


def test_a_step_without_a_title_is_the_staffs_only(
    catalogue: None, client: Client, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(timeline._STEPS, "orders.record_sale")
    order = an_order()
    assert "orders.record_sale" not in client.get(order.get_absolute_url()).content.decode()
    assert "orders.record_sale" in admin_client.get(order.get_absolute_url()).content.decode()


def test_staff_see_attempts_owners_and_the_way_to_triage(catalogue: None, admin_client: Client) -> None:
    order = an_order()
    text = admin_client.get(order.get_absolute_url()).content.decode()
    for words in ("waiting to be sent", "Warehouse team", reverse("order_triage", args=[order.pk]), "ann@example.com"):
        assert words in text, words
    assert "Warehouse team" in admin_client.get(reverse("orders:progress", args=[order.pk])).content.decode()


def test_whoever_placed_an_order_sees_what_was_typed(catalogue: None, client: Client) -> None:
    client.post("/orders/", form_data(note="<b>ring twice</b>"))
    order = Order.objects.get()
    mine = client.get(order.get_absolute_url()).content.decode()
    by_mail = Client().get(order.get_absolute_url(), {"token": token_of(order.pk)}).content.decode()
    for page in (mine, by_mail):
        assert "Ann Example" in page
        assert "ann@example.com" in page
        assert "&lt;b&gt;ring twice" in page
    assert "ann@example.com" not in Client().get(order.get_absolute_url(), {"token": "x"}).content.decode()


def test_the_header_names_who_is_logged_in_and_marks_the_page(catalogue: None, client: Client) -> None:
    page = client.get("/").content.decode()
    assert 'href="/" aria-current="page"' in page
    for staffs in ("/admin/", "/api/docs", "/exports/", "/ops/"):
        assert f'href="{staffs}"' not in page
    assert 'href="/login/"' in page
    client.force_login(User.objects.create_user("clara", first_name="Clara"))
    page = client.get("/").content.decode()
    assert "Clara" in page
    assert 'href="/admin/"' not in page
    client.force_login(User.objects.create_superuser("root"))
    page = client.get("/exports/").content.decode()
    for link in ('href="/admin/"', 'href="/api/docs"', 'href="/ops/"', 'href="/exports/" aria-current="page"'):
        assert link in page
    assert client.post("/logout/").status_code == 302
    assert 'href="/login/"' in client.get("/").content.decode()


def test_the_order_page_asks_again_until_all_is_settled(catalogue: None, client: Client) -> None:
    order = an_order()
    page = client.get(order.get_absolute_url()).content.decode()
    assert 'hx-trigger="every 1s"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    settle(order)
    page = client.get(order.get_absolute_url()).content.decode()
    assert "hx-trigger" not in page
    assert "refresh" not in page


def test_a_picture_that_was_seen_is_not_sent_again(catalogue: None, client: Client) -> None:
    order = an_order()
    address = reverse("orders:progress", args=[order.pk])
    first: Page = client.get(address)
    [seen] = re.findall(r"seen=(\w+)", first.content.decode())
    assert client.get(address, {"seen": seen}).status_code == 204
    pretend_processed(order.pk)
    again: Page = client.get(address, {"seen": seen})
    assert again.status_code == 200
    assert "3 of 5 steps done" in text_of(again)
    assert 'hx-swap-oob="innerHTML"' in again.content.decode()


def test_polling_ends_with_the_last_picture(catalogue: None, client: Client) -> None:
    order = an_order()
    settle(order)
    last: Page = client.get(reverse("orders:progress", args=[order.pk]))
    assert last.status_code == 286
    assert "hx-get" not in last.content.decode()
    assert "Everything is in stock" in text_of(last)


def test_the_order_page_takes_few_queries(catalogue: None, client: Client, django_assert_max_num_queries: Any) -> None:
    order = an_order(MUG=1, PEN=1)
    with django_assert_max_num_queries(8):
        client.get(order.get_absolute_url())


def test_an_order_is_cancelled_after_a_question(catalogue: None, client: Client) -> None:
    order = an_order()
    address, token = f"{order.get_absolute_url()}cancel/", {"token": token_of(order.pk)}
    question = client.get(address, token)
    assert "Yes, cancel the order" in text_of(question)
    assert Order.objects.get().status == OrderStatus.ACCEPTED
    page: Page = client.post(address, token, follow=True)
    assert page.redirect_chain[0][0].partition("?")[0] == order.get_absolute_url()
    assert Order.objects.get().status == OrderStatus.CANCELLED
    assert "You cancelled this order" in text_of(page)
    assert "Place another order" in text_of(page)


def test_a_stranger_is_not_asked_whether_to_cancel(catalogue: None, client: Client) -> None:
    assert client.get(f"{an_order().get_absolute_url()}cancel/").status_code == 403


def test_what_is_left_is_said_at_the_field(catalogue: None, client: Client) -> None:
    StockItem.objects.create(sku="MUG", on_hand=5, reserved=2)
    StockItem.objects.create(sku="PEN", on_hand=1, reserved=1)
    text = text_of(client.get("/"))
    assert "3 left" in text
    assert "Sold out" in text
    assert 'max="3"' in client.get("/").content.decode()
    page: Page = client.post("/orders/", form_data(**{"quantity-MUG": "4", "quantity-PEN": "1"}))
    assert page.status_code == 422
    assert page.context["form"].errors["quantity-MUG"] == [
        "We have 3 of it at the moment. Please order at most that many."
    ]
    assert page.context["form"].errors["quantity-PEN"] == ["This product is sold out."]
    assert 'value="4"' in page.content.decode()
    assert client.post("/orders/", form_data(**{"quantity-MUG": "3"})).status_code == 302


def test_limits_are_said_in_the_shops_words(catalogue: None, client: Client) -> None:
    for typed, words in {"10001": "at most 10000 of one", "-1": "enter 0 or more", "x": "a whole number"}.items():
        page: Page = client.post("/orders/", form_data(**{"quantity-MUG": typed}))
        assert words in page.context["form"].errors["quantity-MUG"][0], typed


def test_a_settled_order_says_why_it_cannot_be_cancelled(catalogue: None, client: Client) -> None:
    order = an_order()
    services.confirm_order(order.pk)
    page: Page = client.post(f"{order.get_absolute_url()}cancel/", {"token": token_of(order.pk)}, follow=True)
    assert "cannot be cancelled any more" in text_of(page)
    assert Order.objects.get().status == OrderStatus.CONFIRMED


@pytest.mark.parametrize("path", ["", "progress/", "cancel/"])
def test_an_unknown_order_is_a_friendly_404(db: None, client: Client, path: str) -> None:
    address = f"/orders/{uuid7()}/{path}"
    page: Page = client.post(address) if path == "cancel/" else client.get(address)
    assert page.status_code == 404
    assert "Page not found" in text_of(page)


def test_the_address_of_a_refused_form_leads_back_to_the_form(db: None, client: Client) -> None:
    assert client.get("/orders/")["Location"] == "/"


def test_the_pages_speak_japanese_after_a_click(catalogue: None, client: Client) -> None:
    order = an_order()
    client.post(reverse("set_language"), {"language": "ja", "next": "/"})
    home, page = client.get("/"), client.get(order.get_absolute_url())
    assert '<html lang="ja">' in home.content.decode()
    assert "青いマグカップ" in text_of(home)
    assert "在庫を確保" in text_of(page)


def test_a_name_that_is_markup_stays_text(catalogue: None, client: Client) -> None:
    Product.objects.filter(pk="MUG").update(name="<script>alert(1)</script>")
    assert "<script>alert(1)" not in client.get("/").content.decode()
