"""The JSON API of orders: its shapes, which scripts hold on to, and every way to be refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from baton_messaging.testing import published
from django.test import Client
from uuid_utils.compat import uuid7

from orders import services
from orders.models import Order, OrderStatus
from orders.placer import token_of
from orders.requests import MAX_LINES, MAX_QUANTITY
from tests.orders.factories import a_body, an_order, at_once

pytestmark = pytest.mark.django_db

Answer = Any


def post(body: Any, *, key: str | None = None, content_type: str = "application/json") -> Answer:
    headers = {} if key is None else {"Idempotency-Key": key}
    data = body if isinstance(body, str | bytes) else json.dumps(body)
    return Client(enforce_csrf_checks=True).post("/api/orders", data, content_type=content_type, headers=headers)


def cancel(order: Order) -> Answer:
    return Client(enforce_csrf_checks=True).post(f"/api/orders/{order.pk}/cancel?token={token_of(order.pk)}")


def fields_of(answer: Answer) -> set[str]:
    return {error["field"] for error in answer.json()["errors"]}


def assert_nothing_was_written() -> None:
    assert not Order.objects.exists()
    assert published() == []


def test_an_order_is_accepted_with_the_address_of_its_status(catalogue: None) -> None:
    answer = post(a_body(language="ja", note="ring twice"))
    order = Order.objects.get()
    status_url = f"/api/orders/{order.pk}"
    assert answer.status_code == 202
    token = token_of(order.pk)
    assert answer.json() == {
        "order_id": str(order.pk),
        "status": "accepted",
        "status_url": status_url,
        "cancel_token": token,
        "cancel_url": f"{status_url}/cancel?token={token}",
    }
    assert answer.headers["Location"] == status_url
    assert Client().get(status_url).status_code == 200
    assert (order.customer_name, order.language, order.note) == ("Ann Example", "ja", "ring twice")


def test_language_and_note_may_be_left_out(catalogue: None) -> None:
    assert post(a_body()).status_code == 202
    order = Order.objects.get()
    assert (order.language, order.note) == ("en", "")


def test_names_of_any_script_are_kept_as_they_are(catalogue: None) -> None:
    name = "  Łódź 東京 O'Neill 👩‍🚀 "
    assert post(a_body(customer_name=name)).status_code == 202
    assert Order.objects.get().customer_name == name.strip()


def test_an_order_tells_how_far_each_consumer_got(catalogue: None) -> None:
    order = an_order(MUG=2, PEN=1)
    answer = Client().get(f"/api/orders/{order.pk}").json()
    assert list(answer) == ["order_id", "status", "needs_attention", "placed_at", "lines", "consumers"]
    assert answer["lines"] == [
        {"sku": "MUG", "quantity": 2, "unit_price": "9.50", "currency": "EUR"},
        {"sku": "PEN", "quantity": 1, "unit_price": "45.00", "currency": "EUR"},
    ]
    shape = ["consumer", "state", "attempts", "owner", "updated_at", "next_attempt_at", "error"]
    assert [list(consumer) for consumer in answer["consumers"]] == [shape] * 3
    assert {consumer["consumer"]: consumer["state"] for consumer in answer["consumers"]} == {
        "inventory.reserve_stock": "waiting",
        "notifications.send_order_received": "waiting",
        "orders.record_sale": "waiting",
    }
    assert "Ann" not in json.dumps(answer)


def test_cancelling_twice_gives_the_same_answer(catalogue: None) -> None:
    order = an_order()
    answers = [cancel(order) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    expected = {"order_id": str(order.pk), "status": "cancelled", "status_url": f"/api/orders/{order.pk}"}
    assert [answer.json() for answer in answers] == [expected] * 2


@pytest.mark.parametrize("settle", [services.confirm_order, services.reject_order])
def test_cancelling_a_settled_order_is_a_conflict(catalogue: None, settle: Callable[[Any], None]) -> None:
    order = an_order()
    settle(order.pk)
    answer = cancel(order)
    assert answer.status_code == 409
    assert "Only an accepted order can be cancelled" in answer.json()["detail"]


@pytest.mark.parametrize(("method", "path"), [("get", ""), ("post", "/cancel")])
def test_an_unknown_order_is_not_found(db: None, method: str, path: str) -> None:
    answer = getattr(Client(), method)(f"/api/orders/{uuid7()}{path}")
    assert (answer.status_code, answer.json()["errors"]) == (404, [])


@pytest.mark.parametrize("order_id", ["1", "nonsense", "%00", "0190-0000"])
def test_a_malformed_id_is_refused_in_json(db: None, order_id: str) -> None:
    answer = Client().get(f"/api/orders/{order_id}")
    assert answer.status_code == 422
    assert fields_of(answer) == {"order_id"}


def test_an_unknown_address_is_refused_in_json(db: None) -> None:
    assert Client().get("/api/nowhere").json()["detail"] == "There is nothing at this address."


LINE = {"sku": "MUG", "quantity": 1}
REFUSED: dict[str, tuple[Any, str]] = {
    "unknown sku": (a_body(lines=[LINE, {"sku": "NOPE", "quantity": 1}]), "lines.1.sku"),
    "sku off sale": (a_body(lines=[{"sku": "OLD", "quantity": 1}]), "lines.0.sku"),
    "sku with NUL": (a_body(lines=[{"sku": "MU\x00G", "quantity": 1}]), "lines.0.sku"),
    "sku with newline": (a_body(lines=[{"sku": "MUG\n", "quantity": 1}]), "lines.0.sku"),
    "sku too long": (a_body(lines=[{"sku": "M" * 65, "quantity": 1}]), "lines.0.sku"),
    "sku a number": (a_body(lines=[{"sku": 7, "quantity": 1}]), "lines.0.sku"),
    "no lines": (a_body(lines=[]), "lines"),
    "lines no list": (a_body(lines={"sku": "MUG"}), "lines"),
    "lines missing": ({key: value for key, value in a_body().items() if key != "lines"}, "lines"),
    "a thousand lines": (a_body(lines=[{"sku": f"S{number}", "quantity": 1} for number in range(1000)]), "lines"),
    "the same sku twice": (a_body(lines=[LINE, LINE]), "lines"),
    "total too large": (a_body(lines=[{"sku": "DEAR", "quantity": MAX_QUANTITY}]), "lines"),
    "two currencies": (a_body(lines=[LINE, {"sku": "DOLLAR", "quantity": 1}]), "lines"),
    "name an address": (a_body(customer_name="Win at https://evil.example/"), "customer_name"),
    "name missing": ({key: value for key, value in a_body().items() if key != "customer_name"}, "customer_name"),
    "name blank": (a_body(customer_name="  "), "customer_name"),
    "name null": (a_body(customer_name=None), "customer_name"),
    "name too long": (a_body(customer_name="a" * 201), "customer_name"),
    "name with NUL": (a_body(customer_name="Ann\x00"), "customer_name"),
    "name with newline": (a_body(customer_name="Ann\nBcc: all@example.com"), "customer_name"),
    "name ends in newline": (a_body(customer_name="Ann\r\n"), "customer_name"),
    "name with lone surrogate": (a_body(customer_name="Ann\ud800"), "customer_name"),
    "name with escape": (a_body(customer_name="\x1b[31mAnn"), "customer_name"),
    "name turns around": (a_body(customer_name="Ann\u202etxt"), "customer_name"),
    "note with NUL": (a_body(note="\x00"), "note"),
    "note with newline": (a_body(note="one\ntwo"), "note"),
    "note with lone surrogate": (a_body(note="\udfff"), "note"),
    "note too long": (a_body(note="n" * 501), "note"),
    "e-mail is none": (a_body(customer_email="ann"), "customer_email"),
    "e-mail without domain": (a_body(customer_email="ann@"), "customer_email"),
    "e-mail with newline": (a_body(customer_email="ann@example.com\nBcc: b@example.com"), "customer_email"),
    "e-mail too long": (a_body(customer_email="a" * 250 + "@example.com"), "customer_email"),
    "two e-mails": (a_body(customer_email="a@example.com,b@example.com"), "customer_email"),
    "unknown language": (a_body(language="fr"), "language"),
    "unknown field": (a_body(discount=100), "discount"),
    "unknown field of a line": (a_body(lines=[{**LINE, "price": "0.01"}]), "lines.0.price"),
    "body a list": ([], "body"),
    "body a string": ('"order"', "body"),
    "body null": ("null", "body"),
    "body empty": ("", "body"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_by_the_name_of_its_field(catalogue: None, case: str) -> None:
    body, field = REFUSED[case]
    answer = post(body)
    assert answer.status_code == 422, answer.content
    assert fields_of(answer) == {field}
    assert_nothing_was_written()


QUANTITIES = [0, -1, 1.5, 1.0, 1e9, MAX_QUANTITY + 1, 10**30, "NaN", "1", True, None, [], "", "１"]


@pytest.mark.parametrize("quantity", QUANTITIES, ids=repr)
def test_odd_quantities_are_refused(catalogue: None, quantity: Any) -> None:
    answer = post(a_body(lines=[{"sku": "MUG", "quantity": quantity}]))
    assert answer.status_code == 422, answer.content
    assert fields_of(answer) == {"lines.0.quantity"}
    assert_nothing_was_written()


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "NaN",
        '{"lines": [Infinity]}',
        b"\xff\xfe{",
        "[" * 100_000,
        "1" * 5_000,
        '{"customer_name": "\x00"}',
        "{}{}",
    ],
    ids=lambda body: repr(body[:12]),
)
def test_a_body_that_is_no_json_is_refused_with_a_reason(catalogue: None, body: str | bytes) -> None:
    answer = post(body)
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("Expected a JSON body")
    assert_nothing_was_written()


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_another_content_type_is_refused(catalogue: None, content_type: str) -> None:
    answer = post(a_body(), content_type=content_type)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["detail"]
    assert_nothing_was_written()


def test_a_content_type_may_name_its_charset(catalogue: None) -> None:
    assert post(a_body(), content_type="application/json; charset=utf-8").status_code == 202


def test_a_body_of_ten_megabytes_is_too_large(catalogue: None) -> None:
    answer = post(json.dumps(a_body(note="n" * 10_000_000)))
    assert (answer.status_code, answer.json()["detail"]) == (413, "The body is too large.")
    assert_nothing_was_written()


def test_a_thousand_faults_get_a_short_answer(catalogue: None) -> None:
    answer = post({"x" * 10_000: 1, **a_body(lines=[{"sku": "", "quantity": 0}] * MAX_LINES)})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 20
    assert len(answer.content) < 5_000


def test_the_answer_does_not_repeat_what_was_sent(catalogue: None) -> None:
    answer = post(a_body(customer_name="Ann\x00Secret", customer_email="secret@"))
    assert "ecret" not in answer.content.decode()


def test_the_same_key_and_body_get_the_same_answer_also_when_the_order_has_moved_on(catalogue: None) -> None:
    first = post(a_body(), key="k-1")
    services.confirm_order(Order.objects.get().pk)
    again = post(a_body(), key="k-1")
    assert (again.status_code, again.content, again.headers["Location"]) == (
        202,
        first.content,
        first.headers["Location"],
    )
    assert Order.objects.count() == len(published()) == 1


@pytest.mark.django_db(transaction=True)
def test_twenty_parallel_posts_of_the_same_are_one_order_and_one_answer(committed_catalogue: None) -> None:
    answers = at_once(lambda: post(a_body(), key="k-1"))
    assert {answer.status_code for answer in answers} == {202}
    assert len({(answer.content, answer.headers["Location"]) for answer in answers}) == 1
    assert Order.objects.count() == len(published()) == 1


@pytest.mark.django_db(transaction=True)
def test_parallel_posts_of_one_key_with_two_bodies_are_one_order(committed_catalogue: None) -> None:
    notes = [str(number % 2) for number in range(20)]
    answers = at_once(lambda: post(a_body(note=notes.pop()), key="k-1"))
    assert sorted(answer.status_code for answer in answers) == [202] * 10 + [422] * 10
    assert Order.objects.count() == 1


def test_the_same_key_with_another_body_is_refused(catalogue: None) -> None:
    post(a_body(), key="k-1")
    answer = post(a_body(note="another"), key="k-1")
    assert answer.status_code == 422
    assert fields_of(answer) == {"Idempotency-Key"}
    assert Order.objects.count() == 1


@pytest.mark.parametrize("key", ["", "k" * 201, "a\x00b", "a\nb", "a\x7f", "schlüssel"], ids=repr)
def test_a_bad_key_is_refused_by_name(catalogue: None, key: str) -> None:
    client = Client()
    answer: Answer = client.generic(
        "POST", "/api/orders", json.dumps(a_body()), content_type="application/json", HTTP_IDEMPOTENCY_KEY=key
    )
    assert answer.status_code == 422
    assert fields_of(answer) == {"Idempotency-Key"}
    assert_nothing_was_written()


def test_the_longest_key_is_accepted(catalogue: None) -> None:
    assert post(a_body(), key="k" * 200).status_code == 202


def test_the_api_describes_itself(db: None) -> None:
    schema = Client().get("/api/openapi.json").json()
    assert {"/api/orders", "/api/orders/{order_id}", "/api/orders/{order_id}/cancel"} <= schema["paths"].keys()
    body = schema["components"]["schemas"]["OrderIn"]
    assert body["required"] == ["customer_name", "customer_email", "lines"]
    assert body["additionalProperties"] is False
    placing = schema["paths"]["/api/orders"]["post"]
    assert set(map(str, placing["responses"])) == {"202", "400", "413", "415", "422", "429"}
    assert "Idempotency-Key" in [parameter["name"] for parameter in placing["parameters"]]


def test_the_documentation_needs_no_other_site(db: None) -> None:
    page = Client().get("/api/docs").content.decode()
    assert "swagger" in page
    assert "https://" not in page


def test_a_cancelled_order_says_so(catalogue: None) -> None:
    order = an_order()
    cancel(order)
    assert Client().get(f"/api/orders/{order.pk}").json()["status"] == OrderStatus.CANCELLED
