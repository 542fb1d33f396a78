"""Hostile values, by every way in: each address answers, and none with an error of ours, to strangers and to staff.

Each address gets all values in its path, in its query, as a form and as JSON; many fields at once, as each view takes
its own. An error of ours is told by the status; a request that fails leaves nothing behind.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from tests.config.routes import Route, all_routes
from tests.orders.factories import an_order, products

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]

VALUES = {
    "nul": "a\x00b",
    "surrogate": "\udc80",
    "digits": "9" * 31,
    "negative": "-1",
    "control": "\u202e\x1b[2J\r\n",
    "long": "x" * 10_000,
    "sql": "' OR 1=1 --",
    "day": "999999-12-31T99:99:99+99:99",
    "float": "1e400",
    "uuid": "00000000-0000-0000-0000-00000000000g",
}
TYPES: list[Any] = [
    None,
    True,
    10**30,
    -1.5,
    [],
    {},
    [[{"a": [None]}]],
    {"ids": [10**30, "x", None]},
    "\x00",
    "x" * 10_000,
]
FIELDS = [
    *("action", "_selected_action", "index", "customer_name", "customer_email", "note", "token", "quantity-MUG", "why"),
    *("payload", "version", "format", "from_day", "to_day", "from", "to", "status", "username", "password", "next"),
    *("language", "id", "ids", "part", "before", "after", "limit", "page", "q", "p", "o", "e", "all", "selection"),
    *("consumer", "key", "dry_run", "lines", "day__year", "day__month", "state", "owner", "older_than", "search"),
    *("reason", "id__exact", "pk__in", "placed_at__gte", "_to_field", "_popup", "_changelist_filters", "app_label"),
    *("model_name", "field_name", "term", "count", "seconds", "order", "until", "kind", "name", "event", "group"),
]
PATH = [
    "order_id",
    "subject_id",
    "export_id",
    "dead_letter_id",
    "replay_id",
    "future_id",
    "object_id",
    "content_type_id",
    "id",
]
ROUTES = all_routes()
STATIC = [route for route in ROUTES if "<" not in route.pattern]
ACTIONS = ["delete_selected", "cancel_orders", "resume_selected", "nowhere"]


@pytest.fixture
def clients(db: None) -> dict[str, Client]:
    products()
    an_order()
    root = Client(raise_request_exception=False)
    root.force_login(User.objects.create_superuser("root"))
    return {"stranger": Client(raise_request_exception=False), "staff": root}


def status(client: Client, method: str, path: str, **options: Any) -> int:
    with transaction.atomic():
        answer = client.generic(method, path, **options)
        transaction.set_rollback(True)
    return answer.status_code


def as_text(value: str) -> str:
    return quote(value.encode("utf-8", "surrogatepass"), safe="")


def paths(route: Route, value: str) -> Iterator[str]:
    """Yield the address with the value in its path, and with it in every field of its query."""
    query = "&".join(f"{field}={value}" for field in FIELDS)
    if "<" in route.pattern:
        yield route.path({**dict.fromkeys(PATH, value), "address": value})
    yield f"{route.path({**dict.fromkeys(PATH, '1'), 'address': 'x'})}?{query}"


@pytest.mark.parametrize("name", VALUES)
def test_no_address_breaks_by_what_stands_in_it(clients: dict[str, Client], name: str) -> None:
    value = as_text(VALUES[name])
    asked = [(who, path) for route in ROUTES for who in clients_of(route) for path in paths(route, value)]
    broken = [f"{who}: {path[:200]}" for who, path in asked if status(clients[who], "GET", path) >= 500]
    assert not broken, "\n".join(broken)


def clients_of(route: Route) -> list[str]:
    """Return both kinds; in the admin a stranger gets the login page, whatever the address."""
    return ["staff"] if route.pattern.startswith("admin/") else ["stranger", "staff"]


@pytest.mark.parametrize("name", VALUES)
def test_no_form_breaks_by_what_is_typed(clients: dict[str, Client], name: str) -> None:
    value = as_text(VALUES[name])
    forms = ["&".join(f"{field}={value}" for field in FIELDS)]
    forms += [f"action={action}&_selected_action={value}&index=0" for action in ACTIONS]
    kind = "application/x-www-form-urlencoded"
    broken = [
        (route.pattern, form[:80])
        for route in STATIC
        for form in (forms if route.name.endswith("changelist") else forms[:1])
        if status(clients["staff"], "POST", route.path({}), data=form, content_type=kind) >= 500
    ]
    assert not broken, broken


@pytest.mark.parametrize("number", range(len(TYPES)))
def test_no_json_breaks_anything(clients: dict[str, Client], number: int) -> None:
    value = TYPES[number]
    line = {"sku": value, "quantity": value}
    bodies = [value, [value], dict.fromkeys(FIELDS, value), {**dict.fromkeys(FIELDS, value), "lines": [line]}]
    broken = [
        (route.pattern, who, str(body)[:80])
        for route in ROUTES
        if route.pattern.startswith("api/")
        for body in bodies
        for who, client in clients.items()
        if status(
            client,
            "POST",
            route.path({**dict.fromkeys(PATH, "1"), "address": "x"}),
            data=json.dumps(body),
            content_type="application/json",
        )
        >= 500
    ]
    assert not broken, broken


HEADERS = ["COOKIE", "X_FORWARDED_FOR", "ACCEPT_LANGUAGE", "X_REQUEST_ID", "TRACEPARENT", "RANGE", "IDEMPOTENCY_KEY"]
HEADERS += ["AUTHORIZATION", "HX_REQUEST", "USER_AGENT", "REFERER", "ORIGIN", "ACCEPT", "HX_TARGET"]


@pytest.mark.parametrize("name", VALUES)
def test_no_header_breaks_anything(clients: dict[str, Client], name: str) -> None:
    value = VALUES[name].encode("utf-8", "replace").decode("latin-1")
    sent: Any = {f"HTTP_{header}": value for header in HEADERS}
    for path in ("/", "/admin/login/", "/api/orders", "/metrics", "/healthz", "/exports/", "/triage/", "/nowhere"):
        assert status(clients["stranger"], "GET", path, **sent) < 500, path
