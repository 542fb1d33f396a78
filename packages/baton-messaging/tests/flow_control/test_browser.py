"""Pauses and circuit breakers in the admin, as operators meet them: in a real browser, light and dark, on a phone."""

from datetime import timedelta

import pytest
from baton_dev.testing.browser import OpenAs
from baton_messaging.models import AuditEntry, Circuit, Pause
from django.contrib.auth.models import Permission, User
from django.utils import timezone
from playwright.sync_api import expect

pytestmark = pytest.mark.django_db(transaction=True)

PAUSES, CIRCUITS = "/admin/baton_messaging/pause/", "/admin/baton_messaging/circuit/"


def an_operator(*permissions: str) -> User:
    user = User.objects.create_user("olga", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


def an_open_circuit() -> Circuit:
    now = timezone.now()
    return Circuit.objects.create(
        consumer="parcels.archive",
        opened_at=now - timedelta(minutes=3),
        error_class="carriers.errors.CarrierUnavailable",
        probe_count=4,
        next_probe_at=now + timedelta(seconds=40),
    )


def test_a_consumer_is_paused_with_a_reason_and_resumed(open_as: OpenAs) -> None:
    page = open_as(an_operator("view_pause", "pause_consumer"), PAUSES)
    page.get_by_role("link", name="Add pause").first.click()
    page.get_by_label("Consumer").select_option("sample.die")
    page.get_by_role("textbox", name="Key").fill("7")
    page.get_by_label("Why").fill("it prints twice")
    page.get_by_role("button", name="Save", exact=True).click()
    said = page.get_by_text("Expected either a consumer, or an event and a key of this release, got 'sample.die, 7'.")
    expect(said).to_be_visible()
    expect(page.get_by_text("Constraint")).to_have_count(0)
    page.get_by_role("textbox", name="Key").fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#result_list")).to_contain_text("it prints twice")
    assert Pause.objects.in_force().get().paused_by == "olga"
    page.locator("#result_list input.action-select").check()
    page.locator("select[name=action]").select_option("resume_selected")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("sample.die goes on.")).to_be_visible()
    assert not Pause.objects.in_force().exists()
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))[-2:] == ["pause", "resume"]


def test_who_may_only_look_sees_no_way_to_pause_or_resume(open_as: OpenAs) -> None:
    Pause.objects.create(consumer="sample.die", paused_by="ann", via="command", why="a test")
    page = open_as(an_operator("view_pause"), PAUSES)
    expect(page.locator("#result_list")).to_contain_text("a test")
    expect(page.get_by_role("link", name="Add pause")).to_have_count(0)
    expect(page.locator("select[name=action] option[value=resume_selected]")).to_have_count(0)


def test_an_open_circuit_is_shown_with_its_error_and_its_next_probe(open_as: OpenAs) -> None:
    an_open_circuit()
    page = open_as(an_operator("view_circuit"), CIRCUITS)
    row = page.locator("#result_list")
    expect(row).to_contain_text("parcels.archive")
    expect(row).to_contain_text("CarrierUnavailable")
    expect(page.get_by_role("link", name="Add")).to_have_count(0)


@pytest.mark.parametrize(("path", "scheme"), [(PAUSES, "dark"), (f"{PAUSES}add/", "light"), (CIRCUITS, "dark")])
def test_no_page_is_wider_than_a_phone(open_as: OpenAs, path: str, scheme: str) -> None:
    an_open_circuit()
    Pause.objects.create(consumer="sample.die", paused_by="ann", via="command", why="a long reason " * 20)
    user = an_operator("view_pause", "pause_consumer", "view_circuit")
    page = open_as(user, path, width=390, color_scheme=scheme)
    expect(page.locator("h1").first).to_be_visible()
    clipped = (
        "[...document.querySelectorAll('#result_list td')].filter(td => td.scrollHeight > td.clientHeight + 1).length"
    )
    assert page.evaluate(clipped) == 0
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
