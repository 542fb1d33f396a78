import re
from bisect import bisect_left
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.models import Attempt, Circuit, Heartbeat, Minute, Pause, Recovery
from baton_messaging.observability.statistics.histogram import LAG_BOUNDS
from baton_messaging.observability.statistics.rollup import roll_up
from baton_messaging.publish import publish
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE
from baton_messaging.routing.send import send_bundle
from baton_messaging.ui.board.charts import charts
from baton_messaging.ui.board.pace import paces
from baton_messaging.ui.board.picture import picture
from celery import current_app
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from tests.dead_letters.factories import a_letter, an_operator
from tests.observability.prometheus.test_metrics import a_heartbeat
from tests.observability.statistics.test_rollup import failed, processed
from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)

Get = Callable[..., str]


@pytest.fixture
def get() -> Get:
    """Return a function that gets the board, or a part of it, as staff without any other right."""
    client = Client()
    client.force_login(an_operator("view"))

    def get_(part: str = "", **headers: str) -> str:
        response = client.get("/ops/", {"part": part} if part else {}, headers=headers)
        assert response.status_code == 200
        return " ".join(response.content.decode().split())

    return get_


def test_each_station_shows_what_is_there(get: Get, empty_broker: None, long_snapshot_deadline: None) -> None:
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4()) for _ in range(3)))
    send_bundle("sample.take_one", ["sealed"], message_ids=[uuid4()])
    a_letter(consumer="sample.take_one")
    due = {"key": "k", "envelope": {}, "error_class": "E", "due_at": timezone.now()}
    Attempt.objects.create(message_id=uuid4(), consumer="sample.take_one", attempt=1, **due)
    Circuit.objects.create(consumer="sample.take_one", opened_at=timezone.now())
    Pause.objects.create(consumer="sample.follow", paused_by="olga", via="command", why="w")
    message_id = str(uuid4())
    entry = {"consumer": "sample.take_one", "message_ids": [message_id], "started_at": "2026-01-01T00:00:00Z"}
    a_heartbeat(name="sample@host", queues=["sample"], running=[entry])
    a_heartbeat("relay")

    page = get()

    assert 'id="ops-outbox">3<' in page
    assert 'id="ops-published">3<' in page
    assert 'id="ops-depth">1<' in page
    assert 'id="ops-dead">1<' in page
    assert 'id="ops-circuit-sample.take_one"' in page
    assert 'id="ops-pause-sample.follow"' in page
    assert 'id="ops-retrying-sample.take_one"' in page
    assert 'href="mailto:platform@example.com">Platform team<' in page
    assert f'href="/triage/{message_id}/"' in page
    assert "No worker takes from it." in page  # the others have no worker
    lane = page[page.index('id="ops-lane-sample"') :]
    assert '<td data-label="waiting">1</td>' in lane


def test_a_station_counts_who_lives_and_what_is_taken(empty_broker: None, long_snapshot_deadline: None) -> None:
    for _ in range(3):
        send_bundle("sample.take_one", ["sealed"], message_ids=[uuid4()])
    for name, is_consuming in (("works", True), ("idles", False), ("gone", True)):
        a_heartbeat(name=name, queues=["sample"], is_consuming=is_consuming)
    Heartbeat.objects.filter(name="gone").update(beaten_at=timezone.now() - timedelta(minutes=3))
    with current_app.connection_for_write() as broker:
        assert current_app.amqp.queues["sample"].bind(broker.default_channel).get()
        dead = current_app.amqp.queues[DEAD_LETTER_QUEUE]
        current_app.amqp.Producer(broker).publish("x", exchange=dead.exchange, routing_key=dead.routing_key)
        found = picture()
    (lane,) = [lane for lane in found.lanes if lane.queue.name == "sample"]
    assert lane.depth
    assert (lane.depth.waiting, lane.taken_count, lane.worker_count) == (2, 1, 1)
    assert (found.depth, found.dead_letter_depth, found.up_counts) == (3, 1, {"worker": 2})


def test_dead_letters_of_names_that_somebody_made_up_are_one_station(get: Get) -> None:
    for number in range(3):
        a_letter(consumer=f'<b>&state=discarded#"{number}')
    page = get("live")
    assert "&lt;b&gt;" not in page
    assert "(unknown) <" in page.replace("</th>", "<").replace("  ", " ")
    every_open_one = reverse("admin:baton_messaging_deadletter_list", query={"state": "open"})
    assert f'id="ops-dead-(unknown)" href="{every_open_one}">3<' in page


def test_without_a_broker_its_stations_say_so_and_the_rest_is_there(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(current_app.conf, "broker_read_url", "redis://127.0.0.1:1/0")
    a_letter()
    page = get("live")
    assert "does not answer" in page
    assert '<td data-label="waiting">?</td>' in page
    assert 'id="ops-dead">1<' in page


def test_a_silent_process_is_named(get: Get) -> None:
    beat = a_heartbeat(name="gone@host", queues=["sample"])
    type(beat).objects.filter(pk=beat.pk).update(beaten_at=timezone.now() - timedelta(minutes=3))
    page = get("live")
    assert "silent for 3 min" in page
    assert "no collector is at work" in page


def test_what_the_reconciler_did_is_told(get: Get) -> None:
    Recovery.objects.create(consumer="sample.take_one", message_count=12)
    Recovery.objects.create(consumer="sample.follow", message_count=9, recovered_at=timezone.now() - timedelta(days=2))
    page = get("charts")
    assert "12 messages that the broker had lost were sent again" in page
    assert "9 messages" not in page


def test_it_speaks_japanese(get: Get) -> None:
    assert "アウトボックス" in get(**{"Accept-Language": "ja"})
    assert "直近 1 時間" in get("charts", **{"Accept-Language": "ja"})


def test_it_is_for_staff_and_the_desk_leads_to_it(get: Get) -> None:
    assert get()
    assert Client().get("/ops/").status_code == 302
    client = Client()
    client.force_login(User.objects.create_user("carl"))
    assert client.get("/ops/").status_code == 302
    client.force_login(an_operator(name="without rights"))
    assert client.get("/ops/").status_code == 403
    client.force_login(User.objects.create_superuser("root"))
    assert 'href="/ops/"' in client.get("/admin/baton_messaging/deadletter/").content.decode()


def test_the_number_of_queries_does_not_grow(get: Get) -> None:
    get()
    with CaptureQueriesContext(connection) as few:
        get()
        get("charts")
    processed(20)
    for _ in range(5):
        a_letter()
        a_heartbeat(queues=["sample"])
        Recovery.objects.create(consumer=str(uuid4()), message_count=1)
    roll_up()
    with CaptureQueriesContext(connection) as many:
        get()
        get("charts")
    assert len(many) == len(few) < 40


def test_rates_and_percentiles_are_those_of_the_last_minutes() -> None:
    now = timezone.now().replace(second=30, microsecond=0)
    processed(10, ago=(timezone.now() - now).total_seconds() + 60, duration_ms=80)
    failed(ago=(timezone.now() - now).total_seconds() + 60)
    processed(50, ago=(timezone.now() - now).total_seconds(), duration_ms=80)  # the minute that has just begun
    roll_up()
    pace = paces(now)["sample.take_one"]
    assert pace.rate_per_minute == 2
    assert (pace.processed_count, pace.failed_count) == (60, 1)
    assert pace.duration_p50 == pytest.approx(0.075)
    assert pace.duration_p95 == pytest.approx(0.0975)
    assert pace.lag_p50 is not None


def test_the_charts_hold_what_the_minutes_hold() -> None:
    processed(3, ago=0)
    processed(4, ago=120)
    failed(ago=120)
    roll_up()
    hour, day = charts(timezone.now())
    assert (len(hour.slots), len(day.slots)) == (60, 96)
    assert [slot.processed_count for slot in hour.slots[-3:]] == [4, 0, 3]
    assert (hour.processed_count, hour.failed_count, hour.max_count) == (7, 1, 5)
    assert (day.processed_count, day.failed_count) == (7, 1)
    bar = hour.bars[-3]
    assert bar.failed_y == 0
    assert bar.failed_y + bar.failed_height == bar.processed_y
    assert len(hour.lag_points) == 2


def test_one_part_is_not_the_whole_page(get: Get) -> None:
    parts: dict[str, Any] = {part: get(part) for part in ("live", "charts")}
    assert "<html" not in parts["live"] + parts["charts"]
    assert "<svg" in parts["charts"]
    assert "ops-way" in parts["live"]


def test_a_lag_of_few_messages_is_no_longer_than_the_longest() -> None:
    """One of ten took 71.8 s; its bucket ends at 300 s."""
    now = timezone.now().replace(second=30, microsecond=0)
    lags = [0] * (len(LAG_BOUNDS) + 1)
    lags[0], lags[bisect_left(LAG_BOUNDS, 71.8)] = 9, 1
    Minute.objects.create(
        minute=now.replace(second=0), consumer="sample.take_one", processed_count=10, lag_counts=lags, lag_seconds=71.9
    )
    told = paces(now)["sample.take_one"].lag_p95
    hour = charts(now)[0]
    assert told is not None
    assert told == pytest.approx(71.9, abs=0.2)
    assert hour.max_lag == told


def test_idle_consumers_are_named_on_one_line(get: Get) -> None:
    a_letter(consumer="sample.take_one")
    page = get("live")
    rows = re.findall(r'<tr class="ops-consumer[^"]*"> <th scope="row">([^ ]+)', page)
    assert [row.replace("<wbr>", "") for row in rows] == ["sample.take_one"]
    assert "idle:" in page
    assert "counted once a minute" in page
