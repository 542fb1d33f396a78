"""The desk as operators meet it: in a real browser, by mouse and by keyboard, on a phone."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.testing.browser import OpenAs
from baton_messaging.models import AuditEntry, DeadLetter
from baton_messaging.models.dead_letter import Reason, State
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.dead_letters.factories import a_letter, an_operator, apply, letters

pytestmark = pytest.mark.django_db(transaction=True)

DESK = "/admin/baton_messaging/deadletter/"
OpenDesk = Callable[..., Page]


@pytest.fixture
def open_desk(open_as: OpenAs) -> OpenDesk:
    """Return a function that opens a page of the desk for a user who has logged in."""

    def open_(user: User, path: str = DESK, **options: Any) -> Page:
        return open_as(user, path, **options)

    return open_


@pytest.fixture
def olga(db: None) -> User:
    return an_operator("view", "replay", "edit", "discard")


def test_a_group_is_replayed_and_watched_until_it_is_resolved(open_desk: OpenDesk, olga: User) -> None:
    found = letters(3, error_class="TemplateDoesNotExist")
    letters(2, error_class="MailRefused")
    page = open_desk(olga)
    expect(page.locator(".desk-group")).to_have_count(2)
    page.locator(".desk-group", has_text="TemplateDoesNotExist").get_by_role("link", name="Replay…").click()
    expect(page.locator(".desk-fates")).to_contain_text("3 would be applied.")
    page.get_by_label("First as a canary").fill("1")
    page.get_by_label("Why").fill("template repaired")
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.locator("#progress")).to_contain_text("watching the canary")
    expect(page.locator("#progress")).to_contain_text("0 of 3 resolved")
    apply(found[0])
    expect(page.locator("#progress")).to_contain_text("1 of 3 resolved")
    expect(page.locator("#progress")).to_contain_text("released")
    apply(found[1])
    apply(found[2])
    expect(page.locator("#progress")).to_contain_text("3 of 3 resolved")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    page.get_by_role("link", name="Groups").last.click()
    expect(page.locator(".desk-group")).to_have_count(1)
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.why, entry.dead_letter_count) == ("olga", "template repaired", 3)


def test_ticked_letters_are_discarded_with_a_reason_and_restored(open_desk: OpenDesk, olga: User) -> None:
    found = letters(3)
    page = open_desk(olga, f"{DESK}letters/?state=open")
    expect(page.get_by_role("button", name="Replay all 3…")).to_be_visible()
    page.get_by_label("Tick all on this page").check()
    expect(page.get_by_role("button", name="Discard 3 selected…")).to_be_visible()
    page.get_by_label("Tick all on this page").uncheck()
    page.get_by_label(f"Tick dead letter {found[1].pk}").check()
    page.get_by_role("button", name="Discard 1 selected…").click()
    expect(page.locator(".desk h2")).to_have_text("1 open dead letter would be discarded.")
    page.get_by_role("button", name="Discard", exact=True).click()  # the browser asks for the reason
    assert page.locator("textarea:invalid").count() == 1
    page.get_by_label("Why").fill("a test order")
    page.get_by_role("button", name="Discard", exact=True).click()
    expect(page.get_by_text("1 dead letter is discarded.")).to_be_visible()
    assert DeadLetter.objects.get(state=State.DISCARDED).pk == found[1].pk
    page.locator(".desk-wide a").click()
    expect(page.get_by_text("a test order")).to_be_visible()
    page.get_by_role("link", name="Restore…").click()
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.get_by_text("1 dead letter is open again.")).to_be_visible()
    assert DeadLetter.objects.open().count() == 3


def test_an_edited_copy_is_checked_compared_and_sent(open_desk: OpenDesk, olga: User) -> None:
    letter = a_letter(uuid4(), behaviour="permanent")
    page = open_desk(olga, f"{DESK}{letter.pk}/change/")
    page.get_by_role("link", name="Edit and replay…").click()
    payload = page.get_by_label("Payload")
    payload.fill(payload.input_value().replace('"permanent"', "1"))
    page.get_by_role("button", name="Show the difference").click()
    expect(page.locator("#difference")).to_contain_text("these fields do not: behaviour (string_type)")
    payload.fill(payload.input_value().replace('"behaviour": 1', '"behaviour": "ok"'))
    page.get_by_role("button", name="Show the difference").click()
    expect(page.locator("#difference")).to_contain_text("It fits the event")
    expect(page.locator("#difference del")).to_have_text("permanent")
    assert DeadLetter.objects.count() == 1
    page.get_by_label("Why").fill("wrong behaviour")
    page.get_by_role("button", name="Send the copy").click()
    expect(page.get_by_text("An edited copy of")).to_be_visible()
    assert DeadLetter.objects.get(copy_of=letter).state == State.REQUESTED


def test_who_may_only_look_sees_no_way_to_act(open_desk: OpenDesk) -> None:
    letter = a_letter()
    page = open_desk(an_operator("view", name="vera"))
    expect(page.locator(".desk-group")).to_have_count(1)
    expect(page.locator(".desk-button", has_text="…")).to_have_count(0)
    page.goto(page.url + f"{letter.pk}/change/")
    expect(page.get_by_text("no such template")).to_be_visible()
    expect(page.locator(".desk-button", has_text="…")).to_have_count(0)


def test_the_keyboard_is_enough(open_desk: OpenDesk, olga: User) -> None:
    letters(1)
    page = open_desk(olga)
    page.get_by_role("link", name="Replay…").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("First as a canary")).to_be_visible()
    page.get_by_label("Why").focus()
    page.keyboard.type("by keyboard")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/replays/\d+/$"))
    assert AuditEntry.objects.get().why == "by keyboard"


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("ja", "dark")])
def test_no_page_is_wider_than_a_phone(open_desk: OpenDesk, olga: User, language: str, scheme: str) -> None:
    letter = a_letter(uuid4(), consumer="parcels.archive", error_class="django.core.A" + "b" * 80)
    a_letter(envelope=None, message_id=None, raw="x" * 500, reason=Reason.UNDECODABLE)
    ids = f"?ids={letter.pk}"
    paths = ["", "letters/", f"{letter.pk}/change/", f"replay/{ids}", f"discard/{ids}", f"{letter.pk}/edit/", "audit/"]
    page = open_desk(olga, DESK, width=390, color_scheme=scheme, locale=language)
    address = page.url
    for path in paths:
        page.goto(address + path)
        expect(page.locator(".desk")).to_be_visible()
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, path
