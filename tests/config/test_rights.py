"""Every address, asked by every kind of user in every method, compared with what the tables of rights say.

A new address without an entry fails; so does one that lets in somebody else, or keeps out who has the right.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.audit.rights import Right
from baton_messaging.models import DeadLetter, FutureMessage, Replay
from django.contrib.auth.models import Permission, User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from orders.exports.models import Export
from orders.rights import OWN
from orders.rights import Right as OrdersRight
from tests.config.routes import Route, all_routes
from tests.orders.factories import an_order, products

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600)]
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True)
class Kind:
    """A kind of user: what one is, and which permissions one has."""

    name: str
    is_user: bool = True
    is_staff: bool = False
    permissions: frozenset[str] = frozenset()
    is_superuser: bool = False

    def has(self, permission: str) -> bool:
        return self.is_superuser or permission in self.permissions


Need = Callable[[Kind], bool]


def anybody(_kind: Kind) -> bool:
    return True


def nobody(_kind: Kind) -> bool:
    return False


def user(kind: Kind) -> bool:
    return kind.is_user


def staff(kind: Kind) -> bool:
    return kind.is_staff


def needs(*rights: Right | OrdersRight) -> Need:
    """Return the need of all of these rights. All but one's own exports are for the staff."""

    def asked(kind: Kind) -> bool:
        permissions = [right.permission if isinstance(right, Right) else right.value for right in rights]
        is_for_staff = any(isinstance(right, Right) or right not in OWN for right in rights)
        return all(kind.has(permission) for permission in permissions) and (kind.is_staff or not is_for_staff)

    return asked


def either(*needs: Need) -> Need:
    return lambda kind: any(need(kind) for need in needs)


def desk(*rights: Right) -> Need:
    return needs(Right.SEE_DEAD_LETTERS, *rights)


SEE_TRIAGE = needs(Right.SEE_TRIAGE)
EXPORTS = either(needs(OrdersRight.ASK_FOR_EXPORT), needs(OrdersRight.SEE_EXPORTS))
# The export of these tests is somebody else's: whoever may not see it is told that there is none.
OTHERS_EXPORT = needs(OrdersRight.SEE_EXPORTS)
FUTURE = "admin/baton_messaging/futuremessage/"
DESK, API = "admin/baton_messaging/deadletter/", "api/dead-letters"
TABLE: dict[str, Need] = {
    # Visitors
    "": anybody,
    "orders/": anybody,
    "orders/<uuid:order_id>/": anybody,
    "orders/<uuid:order_id>/progress/": anybody,
    "orders/<uuid:order_id>/cancel/": needs(OrdersRight.CANCEL_ORDER),  # or the placer: tests/orders/test_placer.py
    "api/products": anybody,
    "api/orders": anybody,
    "api/orders/<order_id>": anybody,
    "api/orders/<order_id>/cancel": needs(OrdersRight.CANCEL_ORDER),  # as above
    "api/openapi.json": anybody,
    "api/docs": anybody,
    "api/": anybody,
    "api/<path:address>": anybody,
    "i18n/setlang/": anybody,
    "login/": anybody,
    "logout/": anybody,
    "healthz": anybody,
    "readyz": anybody,
    # Exports
    "exports/": EXPORTS,
    "exports/list/": EXPORTS,
    "exports/<uuid:export_id>/": OTHERS_EXPORT,
    "exports/<uuid:export_id>/progress/": OTHERS_EXPORT,
    "exports/<uuid:export_id>/cancel/": needs(OrdersRight.SEE_EXPORTS, OrdersRight.CANCEL_EXPORT),
    "exports/<uuid:export_id>/repeat/": needs(OrdersRight.SEE_EXPORTS, OrdersRight.ASK_FOR_EXPORT),
    "api/exports": needs(OrdersRight.ASK_FOR_EXPORT),
    "api/exports/<export_id>": OTHERS_EXPORT,
    "api/exports/<export_id>/cancel": needs(OrdersRight.SEE_EXPORTS, OrdersRight.CANCEL_EXPORT),
    "api/exports/<export_id>/download": OTHERS_EXPORT,
    # Finding out
    "metrics": staff,  # or the token: tests/config/test_edge.py
    "ops/": needs(Right.SEE_BOARD),
    "doctor/": needs(Right.SEE_DOCTOR),
    "glossary/": needs(Right.SEE_BOARD),
    "triage/": SEE_TRIAGE,
    "triage/<path:subject_id>/": SEE_TRIAGE,
    "orders/<uuid:subject_id>/triage/": SEE_TRIAGE,
    "api/orders/<order_id>/triage": SEE_TRIAGE,
    # Dead letters
    DESK: desk(),
    DESK + "letters/": desk(),
    DESK + "replay/": desk(Right.REPLAY),
    DESK + "discard/": desk(Right.DISCARD),
    DESK + "restore/": desk(Right.DISCARD),
    DESK + "redirect/": desk(Right.EDIT),
    DESK + "replays/": desk(),
    DESK + "replays/<int:replay_id>/": desk(),
    DESK + "replays/<int:replay_id>/stop/": desk(Right.REPLAY),
    DESK + "replays/<int:replay_id>/release/": desk(Right.REPLAY),
    DESK + "audit/": desk(),
    DESK + "<int:dead_letter_id>/change/": desk(),
    DESK + "<int:dead_letter_id>/edit/": desk(Right.EDIT),
    API: desk(),
    API + "/groups": desk(),
    API + "/dry-run": desk(Right.REPLAY),
    API + "/replays": desk(Right.REPLAY),
    API + "/replays/<int:replay_id>": desk(),
    API + "/replays/<int:replay_id>/stop": desk(Right.REPLAY),
    API + "/replays/<int:replay_id>/release": desk(Right.REPLAY),
    API + "/discard": desk(Right.DISCARD),
    API + "/restore": desk(Right.DISCARD),
    API + "/redirect": desk(Right.EDIT),
    API + "/<int:dead_letter_id>": desk(),
    API + "/<int:dead_letter_id>/edit": desk(Right.EDIT),
    # Consumers
    "api/consumers": needs(Right.SEE_CONSUMERS),
    "api/consumers/pause": needs(Right.PAUSE),
    "api/consumers/resume": needs(Right.PAUSE),
    "admin/baton_messaging/pause/add/": needs(Right.PAUSE),
    FUTURE + "<int:future_id>/change/": needs(Right.SEE_FUTURE),
    FUTURE + "<int:future_id>/move/": needs(Right.SEE_FUTURE, Right.CHANGE_FUTURE),
    FUTURE + "<int:future_id>/cancel/": needs(Right.SEE_FUTURE, Right.CHANGE_FUTURE),
    # The admin's own
    "admin/": staff,
    "admin/search/": staff,
    "admin/login/": anybody,
    "admin/logout/": anybody,
    "admin/password_change/": staff,
    "admin/password_change/done/": staff,
    "admin/jsi18n/": staff,
}
ADMINS_OWN = [
    "admin/autocomplete/",
    "admin/r/",
    "admin/^(?P<app_label>",
    "admin/(?P<url>",
]  # 403 or 404 by what is asked for
WRITABLE = {"auth_group", "auth_user", "orders_product", "inventory_stockitem"}  # all else can only be looked at
VIEWER = {"view_deadletter", "view_pause", "view_futuremessage", "view_export"}
ASKED = sorted(
    {right.permission for right in Right} | {right.value for right in OrdersRight} | {"baton_messaging.view_pause"}
)


def kinds() -> Iterator[Kind]:
    yield Kind("anonymous", is_user=False)
    yield Kind("user")
    yield Kind("staff", is_staff=True)
    yield Kind("superuser", is_staff=True, is_superuser=True)
    looking = frozenset(name for name in ASKED if name.rpartition(".")[2] in VIEWER)
    yield Kind("view only", is_staff=True, permissions=looking)
    for name in ASKED:
        if name.startswith("orders."):
            yield Kind(f"user with {name}", permissions=frozenset({name}))
        yield Kind(f"staff with {name}", is_staff=True, permissions=frozenset({name}))
        yield Kind(f"view only and {name}", is_staff=True, permissions=looking | {name})


def need_of(route: Route, method: str = "GET") -> Need | None:
    """Return the entry of the table; of the admin's pages over a model, Django's permission for it."""
    if route.pattern in TABLE:
        return TABLE[route.pattern]
    if route.name == "auth_user_password_change":
        return admin_permission("auth_user", "change")
    app_and_model, _, action = route.name.rpartition("_")
    if action == "change" and method not in ("GET", "HEAD", "OPTIONS") and app_and_model not in WRITABLE:
        return nobody
    if action == "changelist" or (action in {"history", "change"} and app_and_model):
        return admin_permission(app_and_model, *(("view", "change") if app_and_model in WRITABLE else ("view",)))
    if action in {"add", "delete"}:
        return admin_permission(app_and_model, action) if app_and_model in WRITABLE else nobody
    return None


def admin_permission(app_and_model: str, *actions: str) -> Need:
    app = next(label for label in APPS if app_and_model.startswith(label + "_"))
    names = [f"{app}.{action}_{app_and_model.removeprefix(app + '_')}" for action in actions]
    return lambda kind: kind.is_staff and any(kind.has(name) for name in names)


APPS = ["auth", "baton_messaging", "django_celery_results", "inventory", "notifications", "orders"]


@dataclass(frozen=True)
class World:
    """What the addresses name: an order, an export of somebody's, a dead letter, a replay."""

    values: dict[str, Any]
    cookies: dict[str, dict[str, str]]


@pytest.fixture
def world(db: None) -> World:
    products()
    order, owner = an_order(), User.objects.create(username="owner")
    letter = DeadLetter.objects.create(
        consumer="orders.record_sale", owner="o", reason="undecodable", fingerprint="f" * 64
    )
    future = FutureMessage.objects.create(
        message_id=uuid4(), correlation_id=uuid4(), version=1, payload={}, due_at=timezone.now() + timedelta(hours=1)
    )
    values = {
        "order_id": order.pk,
        "subject_id": order.pk,
        "export_id": Export.objects.create(requested_by=owner, format="csv", language="en").pk,
        "dead_letter_id": letter.pk,
        "future_id": future.pk,
        "replay_id": Replay.objects.create(requested_by="owner").pk,
        "object_id": 1,
        "content_type_id": 1,
        "id": owner.pk,
        "address": "nowhere",
    }
    return World(values, {kind.name: logged_in(account(kind)) for kind in kinds() if kind.is_user})


def logged_in(person: User) -> dict[str, str]:
    client = Client()
    client.force_login(person)
    return {"sessionid": client.cookies["sessionid"].value}


def account(kind: Kind) -> User:
    made = User.objects.create(username=kind.name, is_staff=kind.is_staff, is_superuser=kind.is_superuser)
    codenames = [name.rpartition(".")[2] for name in kind.permissions]
    made.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return made


BODIES = {
    "why": "test",
    "selection": {"ids": [1]},
    "to": "orders.record_sale",
    "payload": {},
    "version": 1,
    "dry_run": True,
}


def ask(route: Route, method: str, kind: Kind, world: World) -> tuple[int, str]:
    """Return the status and where a redirect leads, and leave nothing behind."""
    path = route.path(world.values)
    options: dict[str, Any] = {}
    if path.startswith("/api/") and method in ("POST", "PUT", "PATCH"):
        options = {"data": json.dumps(body_of(path)), "content_type": "application/json"}
    with transaction.atomic():
        client = Client(raise_request_exception=False)
        client.cookies.load(world.cookies.get(kind.name, {}))
        answer = client.generic(method, path, **options)
        transaction.set_rollback(True)
    return answer.status_code, answer.headers.get("Location", "")


def body_of(path: str) -> dict[str, Any]:
    if path == "/api/exports":
        return {"format": "csv"}
    if path.startswith("/api/consumers"):
        return {"consumer": "orders.record_sale", "why": "test"}
    wanted = {
        "edit": ("payload", "version", "why", "dry_run"),
        "redirect": ("selection", "to", "why"),
        "stop": ("why",),
        "release": ("why",),
        "dry-run": ("selection",),
    }
    names = wanted.get(path.rpartition("/")[2], ("selection", "why"))
    return {name: BODIES[name] for name in names}


def is_refused(status: int, location: str) -> bool:
    # To the admin's first page leads it when there is no such row, before any right is asked for.
    is_elsewhere = location.startswith(("/login/", "/admin/login/")) or location == "/admin/"
    return status in (401, 403, 404) or (status == 302 and is_elsewhere)


NOT_THERE = 405
ROUTES = all_routes()


def is_walked(route: Route) -> bool:
    leads_on = route.pattern.startswith("admin/") and not route.name and route.pattern.endswith("<path:object_id>/")
    return not leads_on and not route.pattern.startswith(tuple(ADMINS_OWN))


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.pattern or "home")
def test_every_address_has_an_entry(route: Route) -> None:
    assert need_of(route) is not None or not is_walked(route), (
        "who may ask for it? Add it to TABLE, and to docs/security.md"
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_address_lets_in_whom_the_table_names(world: World, method: str) -> None:
    wrong = []
    for route in filter(is_walked, ROUTES):
        need = need_of(route, method)
        assert need is not None
        for kind in interesting(route, method):
            status, location = ask(route, method, kind, world)
            if status in (NOT_THERE, 501):
                continue
            assert status < 500, (method, route.pattern, kind.name, status)
            is_in, may = not is_refused(status, location), need(kind)
            if is_in and not may:
                wrong.append(f"{method} {route.pattern}: {kind.name} gets in ({status})")
            if may and not is_in and status != 404 and location != "/admin/":
                wrong.append(f"{method} {route.pattern}: {kind.name} is kept out ({status} {location})")
    assert not wrong, "\n".join(wrong)


def interesting(route: Route, method: str) -> list[Kind]:
    """Return all kinds where they matter: of the admin's plain tables, and in rare methods, the usual ones."""
    everybody = list(kinds())
    is_plain = route.pattern.startswith("admin/") and route.pattern not in TABLE
    if method not in ("GET", "POST"):
        return [everybody[2]] if is_plain else [everybody[0], *everybody[2:4]]
    return everybody[2:4] if is_plain else everybody


def test_one_permission_opens_one_table_of_the_admin(world: World) -> None:
    """Each list and each form of the admin opens by Django's own permission for it, and by no other of its app."""
    for route in ROUTES:
        app_and_model, _, action = route.name.rpartition("_")
        if action != "changelist" or route.pattern == DESK:
            continue
        app = next(label for label in APPS if app_and_model.startswith(label + "_"))
        viewer = User.objects.create(username=f"viewer of {app_and_model}", is_staff=True)
        codename = f"view_{app_and_model.removeprefix(app + '_')}"
        viewer.user_permissions.add(Permission.objects.get(codename=codename, content_type__app_label=app))
        client = Client()
        client.force_login(viewer)
        opened = [
            other.name
            for other in ROUTES
            if other.name.endswith("_changelist")
            and other.pattern != DESK
            and client.get(other.path({})).status_code == 200
        ]
        assert opened == [route.name]
