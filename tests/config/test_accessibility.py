"""Every page of ours, for everybody: axe finds nothing, nothing is wider than a phone, and the keyboard is enough."""

from importlib.resources import files
from typing import Any

import pytest
from baton_dev.testing.browser import OpenAs, OpenPage
from baton_messaging.models import DeadLetter
from baton_messaging.models.dead_letter import Reason
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from orders.exports.models import Export
from orders.models import Order
from orders.placer import token_of
from tests.orders.factories import an_order, products

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(180)]

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
DESK = "/admin/baton_messaging/deadletter/"
PHONE, DESKTOP = 390, 1440  # pixels


@pytest.fixture
def order() -> Order:
    products()
    return an_order(MUG=1, PEN=2)


@pytest.fixture
def clerk() -> User:
    return User.objects.create_superuser("clara", first_name="Clara")


@pytest.fixture
def pages(order: Order, clerk: User, empty_broker: None) -> list[str]:
    export = Export.objects.create(format="csv", language="en", requested_by=clerk)
    dead_letter = DeadLetter.objects.create(
        died_at=timezone.now(),
        reason=Reason.PERMANENT_ERROR,
        consumer="inventory.reserve_stock",
        event_name="orders.order_placed",
        key=str(order.pk),
        error_class="inventory.errors.SomethingWithAVeryLongNameThatHasToBreakSomewhere",
        error_message="x" * 300,
        task_id="1",
        owner="Warehouse team <warehouse@example.com>",
    )
    return [
        "/",
        order.get_absolute_url(),
        f"{order.get_absolute_url()}cancel/",
        "/exports/",
        export.get_absolute_url(),
        "/ops/",
        "/doctor/",
        "/triage/",
        reverse("triage_of", args=[order.pk]),
        "/glossary/",
        "/admin/",
        "/admin/orders/order/",
        f"/admin/orders/order/{order.pk}/change/",
        DESK,
        f"{DESK}letters/?state=open",
        f"{DESK}{dead_letter.pk}/change/",
        f"{DESK}discard/?ids={dead_letter.pk}",
        f"{DESK}audit/",
        "/admin/baton_messaging/attempt/",
        "/admin/baton_messaging/heartbeat/",
        "/admin/baton_messaging/outboxmessage/",
        "/admin/baton_messaging/pause/add/",
    ]


def findings(page: Page) -> list[str]:
    """Return what axe objects to: rule and the first element."""
    page.evaluate(AXE)
    found: Any = page.evaluate("axe.run()")
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found["violations"]]


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize("seen_as", [("en", "light"), ("ja", "dark")])
def test_every_page_is_accessible_and_fits_a_phone(
    live_server: Any, open_as: OpenAs, clerk: User, pages: list[str], seen_as: tuple[str, Any]
) -> None:
    page = open_as(clerk, pages[0], locale=seen_as[0], color_scheme=seen_as[1])
    objections = {}
    for path in pages:
        page.set_viewport_size({"width": DESKTOP, "height": 900})
        page.goto(live_server.url + path, wait_until="load")
        expect(page.locator("main, [role=main]")).to_have_count(1)
        found = findings(page)
        page.set_viewport_size({"width": PHONE, "height": 844})
        if (wider := overflow(page)) > 0:
            found.append(f"{wider} pixels wider than a phone")
        if found:
            objections[path] = found
    assert objections == {}


def test_a_stranger_s_pages_are_accessible(live_server: Any, open_page: OpenPage, order: Order) -> None:
    page = open_page(live_server.url)
    for path in (
        "/",
        f"{order.get_absolute_url()}?token={token_of(order.pk)}",
        "/login/",
        "/admin/login/",
        "/nowhere/",
    ):
        page.goto(live_server.url + path)
        assert findings(page) == [], path


def test_the_admin_s_menu_opens_by_keyboard(live_server: Any, open_as: OpenAs, clerk: User) -> None:
    page = open_as(clerk, "/ops/", width=PHONE)
    menu = page.get_by_role("button", name="Menu").locator("visible=true")
    link = page.get_by_role("link", name="Daily sales")
    expect(link).to_be_hidden()
    menu.first.focus()
    page.keyboard.press("Enter")
    expect(link).to_be_visible()
    expect(page.locator("[role=button]:focus")).to_have_attribute("aria-label", "Menu")
    page.keyboard.press("Enter")
    expect(link).to_be_hidden()
