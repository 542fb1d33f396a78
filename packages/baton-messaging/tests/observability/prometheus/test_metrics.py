import socket
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.testing.deadline import within
from baton_messaging.broker.inspect import snapshot
from baton_messaging.models import Attempt, Circuit, Heartbeat, OutboxMessage, Pause, Recovery
from baton_messaging.observability.prometheus import sources
from baton_messaging.observability.statistics.rollup import roll_up
from baton_messaging.publish import publish
from baton_messaging.routing.send import send_bundle
from celery import current_app
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tests.dead_letters.factories import a_letter, an_operator
from tests.observability.statistics.test_rollup import processed
from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "a-token-of-at-least-20-characters"
TAKE_ONE = {"consumer": "sample.take_one", "queue": "sample", "owner": "Platform team"}


@pytest.fixture
def scrape(settings: Any) -> Any:
    settings.METRICS_TOKEN = TOKEN

    def read() -> dict[str, Metric]:
        response = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert response.status_code == 200
        return {family.name: family for family in text_string_to_metric_families(response.content.decode())}

    return read


def value(family: Metric, *, suffix: str = "", **labels: str) -> float:
    found = [
        sample.value
        for sample in family.samples
        if sample.name == family.name + suffix and labels.items() <= sample.labels.items()
    ]
    assert len(found) == 1, (family.name, labels, found)
    return found[0]


def a_heartbeat(role: str = "worker", **fields: Any) -> Heartbeat:
    """Write the heartbeat of a process."""
    return Heartbeat.objects.create(
        **{
            "name": f"{role}-{uuid4()}@test",
            "role": role,
            "hostname": "test",
            "pid": 1,
            "started_at": timezone.now(),
            "is_consuming": True,
            **fields,
        }
    )


def test_the_figures_are_those_of_tables_and_broker(
    scrape: Any, empty_broker: None, long_snapshot_deadline: None
) -> None:
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4()) for _ in range(3)))
    row = OutboxMessage.objects.latest("pk")
    OutboxMessage.objects.filter(pk=row.pk).update(published_at=timezone.now())
    send_bundle("sample.take_one", ["sealed"], message_ids=[row.message_id])
    processed(4, duration_ms=30)
    a_letter(consumer="sample.take_one")
    a_letter(consumer="made.up")
    due = {"key": "k", "envelope": {}, "error_class": "E", "due_at": timezone.now()}
    Attempt.objects.create(message_id=uuid4(), consumer="sample.take_one", attempt=1, **due)
    Circuit.objects.create(consumer="sample.take_one", opened_at=timezone.now())
    Pause.objects.create(consumer="sample.follow", paused_by="olga", via="command", why="w")
    Recovery.objects.create(consumer="sample.take_one", message_count=7)
    entry = {"consumer": "sample.take_one", "message_ids": [str(uuid4())] * 5, "started_at": "2026-01-01T00:00:00Z"}
    a_heartbeat(queues=["sample"], running=[entry], reserved=[])
    a_heartbeat("relay")
    roll_up()

    found = scrape()

    assert value(found["baton_outbox_waiting"]) == 2
    assert value(found["baton_outbox_oldest_age_seconds"]) > 0
    assert value(found["baton_broker_up"]) == 1
    assert value(found["baton_queue_depth"], queue="sample", state="waiting") == 1
    assert value(found["baton_messages_processed"], suffix="_total", **TAKE_ONE) == 4
    assert value(found["baton_attempts_failed"], suffix="_total", **TAKE_ONE) == 2
    assert value(found["baton_attempts_retried"], suffix="_total", **TAKE_ONE) == 1
    assert value(found["baton_messages_dead"], suffix="_total", reason="permanent_error", **TAKE_ONE) == 1
    assert value(found["baton_messages_dead"], suffix="_total", reason="expired", **TAKE_ONE) == 0
    assert value(found["baton_messages_dead"], suffix="_total", reason="permanent_error", consumer="(unknown)") == 1
    assert value(found["baton_dead_letters_open"], consumer="(unknown)") == 1
    assert value(found["baton_messages_recovered"], suffix="_total", **TAKE_ONE) == 7
    assert value(found["baton_handler_duration_seconds"], suffix="_bucket", le="0.05", **TAKE_ONE) == 4
    assert value(found["baton_handler_duration_seconds"], suffix="_sum", **TAKE_ONE) == pytest.approx(0.12)
    assert value(found["baton_message_lag_seconds"], suffix="_count", **TAKE_ONE) == 4
    assert value(found["baton_retries_waiting"], **TAKE_ONE) == 1
    assert value(found["baton_circuit_open"], **TAKE_ONE) == 1
    assert value(found["baton_consumer_paused"], consumer="sample.follow") == 1
    assert value(found["baton_processes_up"], role="relay") == 1
    assert value(found["baton_processes_up"], role="beat") == 0
    assert value(found["baton_queue_workers"], queue="sample") == 1
    assert value(found["baton_messages_in_flight"], state="running", **TAKE_ONE) == 5
    assert value(found["parcels"], state="shipped") == 0
    assert {sample.value for sample in found["baton_source_up"].samples} == {1}


def test_a_process_that_is_silent_is_not_up_and_its_age_shows(scrape: Any) -> None:
    beat = a_heartbeat("relay")
    Heartbeat.objects.filter(pk=beat.pk).update(beaten_at=timezone.now() - timedelta(seconds=90))
    found = scrape()
    assert value(found["baton_processes_up"], role="relay") == 0
    assert value(found["baton_beat_age_seconds"], role="relay") == pytest.approx(90, abs=5)


def test_the_number_of_queries_does_not_grow(scrape: Any) -> None:
    scrape()
    with CaptureQueriesContext(connection) as few:
        scrape()
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4()) for _ in range(30)))
    processed(20)
    for _ in range(5):
        a_letter()
        a_heartbeat()
    roll_up()
    with CaptureQueriesContext(connection) as many:
        scrape()
    assert len(many) == len(few) < 20


@pytest.fixture(params=["refuses", "hangs", "amqp hangs"])
def broker_away(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    hanging = socket.create_server(("127.0.0.1", 0))  # takes connections, and never says a word
    is_amqp = request.param.startswith("amqp")
    address = f"127.0.0.1:{hanging.getsockname()[1]}"
    url = f"amqp://guest:guest@{address}//" if is_amqp else f"redis://{address}/0"
    if request.param == "refuses":
        hanging.close()
    monkeypatch.setitem(current_app.conf, "broker_read_url", url)
    monkeypatch.setattr(snapshot, "_last", None)
    if is_amqp:
        monkeypatch.setitem(current_app.conf, "broker_transport_options", {})
    yield request.param
    hanging.close()
    if snapshot._pending is not None:
        snapshot._pending.exception(timeout=10)


def test_without_a_broker_it_answers_in_time_and_says_so(scrape: Any, broker_away: str) -> None:
    # Its sockets wait for a second and longer.
    assert within(lambda: snapshot.depths_in_time(["sample"]), seconds=0.9) is None
    found = scrape()
    assert value(found["baton_broker_up"]) == 0
    assert "baton_queue_depth" not in found
    assert value(found["baton_outbox_waiting"]) == 0


def test_a_look_that_takes_long_is_answered_by_the_last_one(empty_broker: None) -> None:
    assert snapshot.depths_in_time(["sample"], seconds=30) is not None
    assert snapshot.depths_in_time(["sample"], seconds=0) is not None


def test_a_source_that_fails_costs_only_its_own_figures(scrape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise ValueError("a fault in an app")

    assert "parcels" in [source.name for source in sources.contributed()]
    monkeypatch.setitem(sources._contributed._items, "parcels", sources.Source("parcels", fail))
    found = scrape()
    assert value(found["baton_source_up"], source="parcels") == 0
    assert value(found["baton_source_up"], source="outbox") == 1
    assert "parcels" not in found


@pytest.mark.parametrize(
    ("token", "header", "status"),
    [
        (TOKEN, f"Bearer {TOKEN}", 200),
        (TOKEN, f"bearer {TOKEN}", 200),
        (TOKEN, "Bearer something-else", 401),
        (TOKEN, f"Basic {TOKEN}", 401),
        (TOKEN, "Bearer ünlesbar", 401),
        (TOKEN, "", 401),
        ("", "Bearer ", 401),
        ("", "", 401),
    ],
)
def test_only_who_has_the_token_may_read(token: str, header: str, status: int) -> None:
    with override_settings(METRICS_TOKEN=token):
        response = Client().get("/metrics", headers={"Authorization": header} if header else {})
    assert response.status_code == status
    assert b"METRICS_TOKEN" in response.content or status == 200


def test_staff_may_read_and_customers_may_not() -> None:
    client = Client()
    client.force_login(an_operator())
    assert client.get("/metrics").status_code == 200
    client.force_login(User.objects.create_user("carl"))
    assert client.get("/metrics").status_code == 401


def test_in_debug_anybody_may_read() -> None:
    with override_settings(DEBUG=True, METRICS_TOKEN=""):
        assert Client().get("/metrics").status_code == 200
