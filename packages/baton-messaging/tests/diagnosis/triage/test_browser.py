"""The page of triage in a real browser: it follows the message, and fits a phone."""

from typing import Any
from uuid import uuid4

import pytest
from baton_dev.testing.browser import OpenAs
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.publish import publish
from django.contrib.auth.models import User
from django.db import transaction
from playwright.sync_api import expect

from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def test_the_page_follows_the_message_until_it_is_done(live_server: Any, open_as: OpenAs) -> None:
    key = uuid4()
    with transaction.atomic():
        (message_id,) = publish(Sampled(sample_id=key))
    sam = User.objects.create_superuser("sam", password="a password for tests")
    page = open_as(sam, f"/triage/{key}/", width=360)
    expect(page.locator(".desk-verdict")).to_contain_text("relay stalled (no relay lives)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ProcessedMessage.objects.claim(consumer="sample.take_one", message_ids=[message_id], worker="w")
    expect(page.locator(".desk-verdict")).to_contain_text("done")
    expect(page.get_by_role("status")).to_contain_text("All is done.")
    page.get_by_role("textbox").fill(str(OutboxMessage.objects.get().message_id))
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/triage/{message_id}/")
