"""One trace and one correlation from the request to the last consumer, through real processes."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.testing.processes import Process, relay_command, running, wait_until, worker_command
from baton_messaging.messages import tracing
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.publish import publish
from celery import current_app
from django.db import transaction
from django.test import Client
from django.utils import timezone
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.dead_letters.causes import envelope_of
from tests.inventory.factories import stock
from tests.orders.factories import a_body, products
from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)

TRACES = ("0af7651916cd43dd8448eb211c80319c", "1bf7651916cd43dd8448eb211c80319c")
PARENTS = tuple(f"00-{trace}-b7ad6b7169203331-01" for trace in TRACES)


@dataclass(frozen=True)
class Span:
    name: str
    service: str
    trace_id: str
    span_id: str
    parent_id: str
    seconds: float
    links: tuple[str, ...]  # the traces that it is linked to
    error: str
    event_count: int


class Receiver(ThreadingHTTPServer):
    """Takes traces by OTLP over HTTP."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def but_for_publishing(self) -> list[Span]:
        """Return the spans but for those that came of making the messages."""
        return [span for span in self.spans if not span.name.startswith("publish ")]

    def keep(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            (service,) = [one.value.string_value for one in resource.resource.attributes if one.key == "service.name"]
            for scope in resource.scope_spans:
                self.spans += [
                    Span(
                        span.name,
                        service,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                        tuple(link.trace_id.hex() for link in span.links),
                        span.status.message,
                        len(span.events),
                    )
                    for span in scope.spans
                ]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Receiver)
        assert self.path == "/v1/traces"
        self.server.keep(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def processes(receiver: Receiver, empty_broker: None, tmp_path: Path) -> Iterator[Process]:
    """Run a worker for all queues and a relay, both traced; return the worker."""
    env = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "EMAIL_URL": f"file://{tmp_path / 'mail'}",
    }
    queues = [name for name in current_app.amqp.queues if name != "dead_letters"]
    with (
        running(worker_command(*queues), log=tmp_path / "worker.log", ready=" ready.", env=env) as worker,
        running(relay_command(), log=tmp_path / "relay.log", ready="relay_started", env=env),
    ):
        yield worker


@pytest.fixture
def traced(receiver: Receiver, settings: Any) -> Iterator[None]:
    settings.TRACING_ENDPOINT = receiver.url
    tracing.start("web")
    yield
    tracing.stop()


def test_an_order_is_one_trace_and_one_correlation(
    receiver: Receiver, traced: None, processes: Process, tmp_path: Path
) -> None:
    products()
    stock(MUG=5)
    response = Client().post("/api/orders", a_body(), content_type="application/json")
    assert response.status_code == 202
    correlation_id = response["X-Correlation-ID"]
    wanted = {"orders.confirm_order", "orders.record_sale", "notifications.send_order_confirmed"}
    wait_until(
        lambda: wanted <= set(ProcessedMessage.objects.values_list("consumer", flat=True)), what="the order's end"
    )
    tracing.stop()

    last = "process notifications.send_order_confirmed"
    wait_until(lambda: {last, "process orders.confirm_order"} <= {span.name for span in receiver.spans}, what="spans")
    by_id = {span.span_id: span for span in receiver.spans}
    chain = [next(span for span in receiver.spans if span.name == last)]
    while chain[-1].parent_id:
        chain.append(by_id[chain[-1].parent_id])
    assert [span.name for span in chain] == [
        last,
        "publish inventory.stock_reserved",
        "process inventory.reserve_stock",
        "publish orders.order_placed",
        "POST",
    ]
    assert [span.service for span in chain] == ["baton-worker"] * 3 + ["baton-web"] * 2
    wait_until(
        lambda: any(span.name == "relay orders.order_placed" for span in receiver.spans), what="the relay's span"
    )
    of_the_order = [span for span in receiver.spans if span.trace_id == chain[0].trace_id]
    assert {"relay orders.order_placed", "process orders.record_sale"} <= {span.name for span in of_the_order}
    _one_correlation(correlation_id, processes, tmp_path / "mail")


def _one_correlation(correlation_id: str, worker: Process, mails: Path) -> None:
    assert {str(one) for one in OutboxMessage.objects.values_list("correlation_id", flat=True)} == {correlation_id}
    for consumer in ("orders.confirm_order", "inventory.reserve_stock"):
        assert [
            line
            for line in worker.output().splitlines()
            if " processed " in line and consumer in line and correlation_id in line
        ]
    assert [line for line in worker.output().splitlines() if "mail_handled" in line and correlation_id in line]
    letters = [message_from_bytes(path.read_bytes()) for path in mails.rglob("*") if path.is_file()]
    assert letters
    assert {letter["X-Correlation-ID"] for letter in letters} == {correlation_id}


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


def test_a_trace_of_the_caller_is_continued(receiver: Receiver, traced: None) -> None:
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    Client(headers={"traceparent": f"00-{trace_id}-b7ad6b7169203331-01"}).get("/healthz")
    Client(headers={"traceparent": "nonsense"}).get("/healthz")
    tracing.stop()
    assert [span.trace_id == trace_id for span in receiver.spans] == [True, False]


def test_a_list_is_a_trace_of_its_own_linked_to_those_of_its_messages(receiver: Receiver, traced: None) -> None:
    envelopes = [replace(envelope_of(Sampled(sample_id=uuid4())), traceparent=parent) for parent in PARENTS]
    with tracing.handling("sample.take_all", envelopes):
        pass
    tracing.stop()
    (span,) = receiver.but_for_publishing()
    assert (span.parent_id, span.trace_id in TRACES, span.links) == ("", False, TRACES)


def test_the_relays_span_is_as_long_as_the_message_waited(receiver: Receiver, traced: None) -> None:
    envelope = replace(envelope_of(Sampled(sample_id=uuid4())), traceparent=PARENTS[0])
    tracing.relayed([replace(envelope, occurred_at=timezone.now() - timedelta(seconds=90))])
    tracing.stop()
    (span,) = receiver.but_for_publishing()
    assert span.trace_id == TRACES[0]
    assert 90 <= span.seconds < 120


def test_of_an_error_a_span_holds_the_class_and_nothing_else(receiver: Receiver, traced: None) -> None:
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
