"""The board as people see it: live, on a phone, by keyboard, in the dark."""

import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.testing.browser import OpenAs
from baton_messaging.models import Circuit, Heartbeat, Minute, Pause
from baton_messaging.observability.statistics.histogram import DURATION_BOUNDS, LAG_BOUNDS
from baton_messaging.publish import publish
from django.db import transaction
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.dead_letters.factories import a_letter, an_operator
from tests.observability.prometheus.test_metrics import a_heartbeat
from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)

OpenBoard = Callable[..., Page]


@pytest.fixture
def open_board(open_as: OpenAs) -> OpenBoard:
    def open_(**options: Any) -> Page:
        return open_as(an_operator("view", name=f"olga{uuid4().hex}"), "/ops/", **options)

    return open_


def test_numbers_change_while_one_looks_and_the_focus_stays(
    open_board: OpenBoard, empty_broker: None, long_snapshot_deadline: None
) -> None:
    page = open_board()
    expect(page.locator("#ops-outbox")).to_have_text("0")
    link = page.locator("#ops-dead-link")
    link.focus()
    with transaction.atomic():
        publish(Sampled(sample_id=uuid4()), Sampled(sample_id=uuid4()))
    a_letter()
    expect(page.locator("#ops-outbox")).to_have_text("2")
    expect(page.locator("#ops-dead")).to_have_text("1")
    expect(link).to_be_focused()
    page.get_by_role("searchbox").fill(str(uuid4()))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/triage/"))


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("ja", "dark")])
def test_it_is_not_wider_than_a_phone(open_board: OpenBoard, busy: None, language: str, scheme: str) -> None:
    page = open_board(width=390, color_scheme=scheme, locale=language)
    expect(page.locator(".ops-chart")).to_have_count(2)
    page.locator("details summary").first.click()
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    folder = os.environ.get("BOARD_SCREENSHOTS")
    if folder:
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=Path(folder) / f"phone-{scheme}-{language}.png")
        page.set_viewport_size({"width": 1400, "height": 900})
        page.screenshot(path=Path(folder) / f"wide-{scheme}-{language}.png")


@pytest.fixture
def busy(empty_broker: None) -> None:
    """A pipeline in which something happens, and something is wrong."""
    now = timezone.now().replace(second=0, microsecond=0)
    durations = [0, 5, 40, 100, 30, 8, *[0] * (len(DURATION_BOUNDS) - 5)]
    lags = [0, 10, 90, 50, 20, 13, *[0] * (len(LAG_BOUNDS) - 5)]
    consumers = ("sample.take_one", "parcels.count", "parcels.archive")
    Minute.objects.bulk_create(
        Minute(
            minute=now - timedelta(minutes=ago),
            consumer=consumer,
            processed_count=183 - ago % 17 * 7,
            failed_count=ago % 23,
            duration_counts=durations,
            lag_counts=[count * (1 + ago % 5) for count in lags],
        )
        for ago in range(0, 1000, 3)
        for consumer in consumers
    )
    entry = {
        "consumer": "parcels.archive",
        "message_ids": [str(uuid4())],
        "started_at": now.isoformat(),
    }
    a_heartbeat(name="sample@shop-7", queues=["sample"])
    a_heartbeat(name="parcels@shop-7", queues=["parcels"])
    a_heartbeat(name="bulk@shop-7", queues=["parcels.bulk"], running=[entry, entry | {"message_ids": []}])
    a_heartbeat("relay", name="relay@shop-7:4711")
    silent = a_heartbeat("collector", name="collector@shop-7:4712")
    Heartbeat.objects.filter(pk=silent.pk).update(beaten_at=now - timedelta(minutes=9))
    Circuit.objects.create(consumer="parcels.archive", opened_at=now)
    Pause.objects.create(consumer="sample.take_one", paused_by="olga", via="admin", why="stocktaking")
    a_letter(consumer="parcels.count")
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4()) for _ in range(41)))
