"""Orders are limited per e-mail address and per client, and whoever meets a limit is told in words."""

import json
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.testing import published
from django.test import Client

from orders import limits
from orders.models import Order, OrderCount
from tests.orders.factories import a_body, at_once

pytestmark = pytest.mark.django_db
Answer = Any


@pytest.fixture(autouse=True)
def strict(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ORDERS = {**settings.ORDERS, "FREE_ON_LOOPBACK": False, "PER_EMAIL": 3, "PER_CLIENT": 5}
    monkeypatch.setattr(limits, "WINDOW_SECONDS", 10**9)  # no window ends within a test


def order(number: int, *, email: str = "", address: str = "10.0.0.1", key: str | None = None) -> Answer:
    body = json.dumps(a_body(customer_email=email or f"c{number}@example.com"))
    headers = {"Idempotency-Key": key} if key else {}
    client = Client(REMOTE_ADDR=address)
    return client.post("/api/orders", body, content_type="application/json", headers=headers)


def test_an_address_gets_so_many_mails_and_no_more(catalogue: None) -> None:
    answers = [
        order(n, email="Ann@Example.com" if n % 2 else "ann@example.com", address=f"10.0.1.{n}") for n in range(5)
    ]
    assert [answer.status_code for answer in answers] == [202] * 3 + [429] * 2
    refusal = answers[-1]
    assert refusal.json()["detail"].startswith("Too many orders for this e-mail address")
    assert int(refusal.headers["Retry-After"]) > 0
    assert Order.objects.count() == len(published()) == 3


def test_a_client_orders_so_often_and_no_more(catalogue: None) -> None:
    statuses = [order(number).status_code for number in range(7)]
    assert statuses == [202] * 5 + [429] * 2
    assert order(8, address="10.0.0.2").status_code == 202


def test_a_repeated_request_counts_once_for_its_address(catalogue: None) -> None:
    answers = [order(1, key="k", address=f"10.0.1.{number}") for number in range(5)]
    assert {answer.status_code for answer in answers} == {202}
    assert order(1).status_code == 202


def test_the_page_says_so(catalogue: None) -> None:
    form = {"customer_name": "Ann", "customer_email": "ann@example.com", "quantity-MUG": "1"}
    answers = [Client().post("/orders/", {**form, "token": str(uuid4())}) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [302] * 3 + [429]
    assert "too many orders for this e-mail address" in answers[-1].content.decode()
    assert "Retry-After" in answers[-1].headers


@pytest.mark.django_db(transaction=True)
def test_of_twenty_at_once_no_more_get_through(committed_catalogue: None) -> None:
    addresses = [f"10.0.1.{number}" for number in range(20)]
    answers = at_once(lambda: order(0, email="ann@example.com", address=addresses.pop()))
    assert sorted(answer.status_code for answer in answers) == [202] * 3 + [429] * 17


def test_nothing_is_limited_on_this_machine_in_debug(catalogue: None, settings: Any) -> None:
    settings.ORDERS = {**settings.ORDERS, "FREE_ON_LOOPBACK": True}
    assert {order(1, address="127.0.0.1").status_code for _ in range(6)} == {202}
    assert not OrderCount.objects.exists()


def test_the_table_tells_no_address_and_is_forgotten(catalogue: None, monkeypatch: pytest.MonkeyPatch) -> None:
    order(1)
    assert OrderCount.objects.count() == 2
    assert not [row for row in OrderCount.objects.values_list("key", flat=True) if "10.0" in row or "@" in row]
    OrderCount.objects.update(ends_at="2020-01-01T00:00Z")
    assert limits.forget() == 2
