"""One trace and one correlation from the request to the last consumer, through real processes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.testing.processes import Process, relay_command, running, wait_until, worker_command
from baton_dev.testing.trace_receiver import TraceReceiver, trace_receiver
from baton_messaging.messages import tracing
from baton_messaging.models import OutboxMessage
from baton_messaging.publish import publish
from celery import current_app
from django.db import transaction
from django.test import Client
from django.utils import timezone

from tests.dead_letters.causes import envelope_of
from tests.parcels.models import Parcel
from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)

TRACES = ("0af7651916cd43dd8448eb211c80319c", "1bf7651916cd43dd8448eb211c80319c")
PARENTS = tuple(f"00-{trace}-b7ad6b7169203331-01" for trace in TRACES)


@pytest.fixture
def receiver() -> Iterator[TraceReceiver]:
    with trace_receiver() as receiver:
        yield receiver


@pytest.fixture
def processes(receiver: TraceReceiver, empty_broker: None, tmp_path: Path) -> Iterator[Process]:
    """Run a worker for all queues and a relay, both traced; return the worker."""
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    queues = [name for name in current_app.amqp.queues if name != "dead_letters"]
    with (
        running(worker_command(*queues), log=tmp_path / "worker.log", ready=" ready.", env=env) as worker,
        running(relay_command(), log=tmp_path / "relay.log", ready="relay_started", env=env),
    ):
        yield worker


@pytest.fixture
def traced(receiver: TraceReceiver, settings: Any) -> Iterator[None]:
    settings.TRACING_ENDPOINT = receiver.url
    tracing.start("web")
    yield
    tracing.stop()


def test_a_request_and_all_that_follows_are_one_trace_and_one_correlation(
    receiver: TraceReceiver, traced: None, processes: Process
) -> None:
    response = Client().post("/parcels/")
    assert response.status_code == 202
    correlation_id = response["X-Correlation-ID"]
    wait_until(Parcel.objects.filter(is_shipped=True).exists, what="the parcel's end")
    tracing.stop()

    wanted = {"process parcels.ship", "process parcels.count", "relay parcels.handed_in"}
    wait_until(lambda: wanted <= receiver.names(), what="the spans")
    way = receiver.way_to("process parcels.ship")
    assert [span.name for span in way] == [
        "process parcels.ship",
        "publish sample.weighed",
        "process sample.weigh",
        "publish parcels.handed_in",
        "POST",
    ]
    assert [span.service for span in way] == ["baton-worker"] * 3 + ["baton-web"] * 2
    assert wanted <= {span.name for span in receiver.spans if span.trace_id == way[0].trace_id}

    assert {str(one) for one in OutboxMessage.objects.values_list("correlation_id", flat=True)} == {correlation_id}
    lines = [line for line in processes.output().splitlines() if " processed " in line and correlation_id in line]
    for consumer in ("parcels.ship", "sample.weigh"):
        assert [line for line in lines if consumer in line]


def test_without_an_endpoint_nothing_is_traced() -> None:
    tracing.start("web")
    with transaction.atomic():
        publish(Sampled(sample_id=uuid4()))
    assert OutboxMessage.objects.get().traceparent == ""


def test_without_the_packages_it_works_and_says_so(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.TRACING_ENDPOINT = "http://127.0.0.1:1"
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    tracing.start("web")
    assert tracing.publishing("a", cause="") == ""


def test_a_trace_of_the_caller_is_continued(receiver: TraceReceiver, traced: None) -> None:
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    Client(headers={"traceparent": f"00-{trace_id}-b7ad6b7169203331-01"}).get("/healthz")
    Client(headers={"traceparent": "nonsense"}).get("/healthz")
    tracing.stop()
    assert [span.trace_id == trace_id for span in receiver.spans] == [True, False]


def test_a_list_is_a_trace_of_its_own_linked_to_those_of_its_messages(receiver: TraceReceiver, traced: None) -> None:
    envelopes = [replace(envelope_of(Sampled(sample_id=uuid4())), traceparent=parent) for parent in PARENTS]
    with tracing.handling("sample.take_all", envelopes):
        pass
    tracing.stop()
    (span,) = receiver.but_for_publishing()
    assert (span.parent_id, span.trace_id in TRACES, span.links) == ("", False, TRACES)


def test_the_relays_span_is_as_long_as_the_message_waited(receiver: TraceReceiver, traced: None) -> None:
    envelope = replace(envelope_of(Sampled(sample_id=uuid4())), traceparent=PARENTS[0])
    tracing.relayed([replace(envelope, occurred_at=timezone.now() - timedelta(seconds=90))])
    tracing.stop()
    (span,) = receiver.but_for_publishing()
    assert span.trace_id == TRACES[0]
    assert 90 <= span.seconds < 120


def test_of_an_error_a_span_holds_the_class_and_nothing_else(receiver: TraceReceiver, traced: None) -> None:
    with (
        pytest.raises(ValueError, match="personal"),
        tracing.handling("sample.take_one", [envelope_of(Sampled(sample_id=uuid4()))]),
    ):
        raise ValueError("personal data")
    tracing.stop()
    (span,) = receiver.but_for_publishing()
    assert (span.error, span.event_count) == ("ValueError", 0)


def test_the_request_id_of_a_trusted_proxy_is_kept_if_it_is_a_uuid(settings: Any) -> None:
    settings.DJANGO_STRUCTLOG_TRUST_UPSTREAM_REQUEST_ID = True
    given = str(uuid4())
    assert Client(headers={"X-Request-ID": given}).get("/healthz")["X-Correlation-ID"] == given
    response = Client(headers={"X-Request-ID": "none of ours"}).get("/healthz")
    assert response.status_code == 200
    assert len(response["X-Correlation-ID"]) == len(given)
