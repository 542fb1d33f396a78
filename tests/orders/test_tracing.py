"""One trace and one correlation from the customer's request to the last mail, through real processes."""

from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
from baton_dev.testing.processes import Process, relay_command, running, wait_until, worker_command
from baton_dev.testing.trace_receiver import TraceReceiver, trace_receiver
from baton_messaging.messages import tracing
from baton_messaging.models import OutboxMessage, ProcessedMessage
from celery import current_app
from django.test import Client

from tests.inventory.factories import stock
from tests.orders.factories import a_body, products

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def receiver() -> Iterator[TraceReceiver]:
    with trace_receiver() as receiver:
        yield receiver


@pytest.fixture
def processes(receiver: TraceReceiver, empty_broker: None, tmp_path: Path) -> Iterator[Process]:
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
def traced(receiver: TraceReceiver, settings: Any) -> Iterator[None]:
    settings.TRACING_ENDPOINT = receiver.url
    tracing.start("web")
    yield
    tracing.stop()


def test_an_order_is_one_trace_and_one_correlation(
    receiver: TraceReceiver, traced: None, processes: Process, tmp_path: Path
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
    wait_until(lambda: {last, "process orders.confirm_order"} <= receiver.names(), what="spans")
    chain = receiver.way_to(last)
    assert [span.name for span in chain] == [
        last,
        "publish inventory.stock_reserved",
        "process inventory.reserve_stock",
        "publish orders.order_placed",
        "POST",
    ]
    assert [span.service for span in chain] == ["baton-worker"] * 3 + ["baton-web"] * 2
    wait_until(lambda: "relay orders.order_placed" in receiver.names(), what="the relay's span")
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
