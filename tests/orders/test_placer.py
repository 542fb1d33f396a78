"""Whoever placed an order may cancel it, and nobody else who has no right to: at the page and at the API."""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from orders.models import Order
from orders.placer import COOKIE, token_of
from tests.orders.factories import a_body, an_order

pytestmark = pytest.mark.django_db
Answer = Any


def placed_by(client: Client) -> tuple[Order, dict[str, str]]:
    answer: Answer = client.post("/api/orders", json.dumps(a_body()), content_type="application/json")
    assert answer.status_code == 202, answer.content
    return Order.objects.get(pk=answer.json()["order_id"]), answer.json()


def cancel(client: Client, order: Order, query: str = "") -> int:
    return client.post(f"/api/orders/{order.pk}/cancel{query}").status_code


def test_an_id_alone_cancels_nothing(catalogue: None) -> None:
    order, _answer = placed_by(Client())
    answer = Client().post(f"/api/orders/{order.pk}/cancel")
    assert answer.status_code == 403
    said = answer.json()["detail"]
    assert all(word in said for word in ("Only whoever placed an order", "cancel_url", "cancel_token", COOKIE))
    assert Client().post(f"/orders/{order.pk}/cancel/").status_code == 403
    order.refresh_from_db()
    assert order.status == "accepted"


def test_the_answer_has_an_address_that_cancels(catalogue: None) -> None:
    _order, answer = placed_by(Client())
    assert Client().post(answer["cancel_url"]).status_code == 202


def test_the_browser_that_placed_it_needs_no_token(catalogue: None) -> None:
    browser = Client()
    order, _answer = placed_by(browser)
    another, _answer = placed_by(Client())
    assert cancel(browser, another) == 403
    assert cancel(browser, order) == 202


def test_a_browser_keeps_one_key_for_all_its_orders(catalogue: None) -> None:
    browser = Client()
    placed_by(browser)
    key = browser.cookies[COOKIE].value
    placed_by(browser)
    assert browser.cookies[COOKIE].value == key
    assert len(set(Order.objects.values_list("placed_by", flat=True))) == 1
    assert key not in Order.objects.values_list("placed_by", flat=True)
    cookie = browser.cookies[COOKIE]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


@pytest.mark.parametrize(
    "token", ["", "x", "%00", "%ff", "é", "a" * 100, "a" * 10_000, ":" * 9, "../", "\udc80"], ids=repr
)
def test_no_other_token_opens(catalogue: None, token: str) -> None:
    order = an_order()
    for query in (f"?token={token}", f"?token={token_of(an_order().pk)}"):
        assert cancel(Client(), order, query.encode("utf-8", "replace").decode()) in (400, 403, 422)


def test_an_order_without_a_browser_belongs_to_no_browser(catalogue: None) -> None:
    order = an_order()
    client = Client()
    client.cookies[COOKIE] = ""
    assert cancel(client, order) == 403


def test_a_token_of_a_former_secret_key_still_opens(catalogue: None, settings: Any) -> None:
    order = an_order()
    token = token_of(order.pk)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-fifty-characters-0123456789ab"
    assert token != token_of(order.pk)
    assert cancel(Client(), order, f"?token={token}") == 202


def test_staff_with_the_right_may_cancel_from_this_site_only(catalogue: None) -> None:
    user = User.objects.create_user("clerk", is_staff=True)
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    assert cancel(client, an_order()) == 403

    user.user_permissions.add(Permission.objects.get(codename="change_order"))

    assert cancel(client, an_order()) == 403  # no CSRF token
    page = client.get("/").content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert token is not None
    answer = client.post(f"/api/orders/{an_order().pk}/cancel", headers={"X-CSRFToken": token[1]})
    assert answer.status_code == 202


def test_the_page_offers_it_to_the_placer_alone(catalogue: None) -> None:
    browser = Client()
    order, _answer = placed_by(browser)
    page, token = f"/orders/{order.pk}/", token_of(order.pk)
    assert "Cancel the order" in browser.get(page).content.decode()
    assert "Cancel the order" not in Client().get(page).content.decode()

    by_mail = Client().get(f"{page}?token={token}").content.decode()
    asked = Client().get(f"{page}cancel/?token={token}").content.decode()

    assert f"{page}cancel/?token=" in by_mail
    assert f'name="token" value="{token}"' in asked
    assert Client().post(f"{page}cancel/", {"token": "x"}).status_code == 403
    assert Client().post(f"{page}cancel/", {"token": token}).status_code == 302


def test_the_list_links_ones_own_orders_only(catalogue: None) -> None:
    browser = Client()
    order, _answer = placed_by(browser)
    assert f"/orders/{order.pk}/" in browser.get("/").content.decode()
    public = Client().get("/").content.decode()
    assert str(order.pk) not in public
    assert order.reference not in public
    assert "accepted" in public


def test_only_the_placing_answer_has_the_token(catalogue: None) -> None:
    order, _answer = placed_by(Client())
    for path in (f"/api/orders/{order.pk}", f"/orders/{order.pk}/", f"/orders/{order.pk}/progress/", "/"):
        assert token_of(order.pk) not in Client().get(path).content.decode()


def test_products_are_listed_for_whoever_orders(catalogue: None) -> None:
    products = Client().get("/api/products").json()
    assert [product["sku"] for product in products] == ["DEAR", "DOLLAR", "MUG", "PEN"]
    assert products[2] == {
        "sku": "MUG",
        "name": "Blue mug",
        "name_ja": "青いマグカップ",
        "price": "9.50",
        "currency": "EUR",
    }
