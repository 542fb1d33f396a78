"""RabbitMQ ends a consumer: its queue is deleted, or its channel closed. The worker notices, whoever read the news."""

import select
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import kombu
import pytest
from amqp.exceptions import ConsumerCancelled, PreconditionFailed
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.processes.intake import Intake
from celery.worker import loops
from kombu.asynchronous import Hub

from tests.contract.brokers import Broker, open_gate, wait_for_lines
from tests.contract.celery_app import FINISHED, QUEUES, STARTED
from tests.contract.test_silent_broker import Consuming

pytestmark = pytest.mark.parametrize("session_broker", ["rabbitmq"], indirect=True)  # Redis knows no consumers
Read = Callable[[kombu.Connection], object]


def first_look(connection: kombu.Connection) -> None:
    """Look as Celery does when it is ready."""
    quick_drain: Read = vars(loops)["_quick_drain"]
    quick_drain(connection)


def look(connection: kombu.Connection) -> None:
    """Look at a queue as the heartbeat does: it takes any error for a broker that is away."""
    intake = Intake()
    for _ in range(2):  # at first it takes note of what was received
        intake.is_flowing(Consuming(connection), queues=[QUEUES[1]], room=1)


def ask(connection: kombu.Connection) -> None:
    """Wait for another answer, and make nothing of an error, as Celery's remote control does."""
    with suppress(Exception):
        depths(connection, [QUEUES[1]])


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()
    yield hub
    hub.close()


@pytest.fixture
def connection(broker: Broker, hub: Hub) -> Iterator[kombu.Connection]:
    """Connect as a worker does, and consume a queue."""
    with broker.app.connection_for_read(heartbeat=0) as connection:
        connection.transport.register_with_event_loop(connection.connection, hub)
        consumer = kombu.Consumer(connection, queue(broker), on_message=print)
        consumer.consume()
        yield connection
        connection.collect()


def queue(broker: Broker) -> kombu.Queue:
    return broker.app.amqp.queues[QUEUES[0]]


def turn(hub: Hub) -> None:
    """Turn the loop once."""
    next(hub.create_loop())


def wait_for_news(connection: kombu.Connection) -> None:
    """Wait until the broker has said something that nobody has read yet."""
    assert select.select([connection.connection.sock], [], [], 30)[0]


@pytest.mark.parametrize("read", [first_look, look, ask])
def test_the_loop_hears_of_it_whoever_reads_it(
    broker: Broker, hub: Hub, connection: kombu.Connection, read: Read
) -> None:
    broker.delete(queue(broker))
    wait_for_news(connection)
    hub.remove_reader(connection.connection.sock)  # it is not to read by itself
    read(connection)
    with pytest.raises(ConsumerCancelled):
        turn(hub)
    connection.collect()
    turn(hub)  # it is over with that connection


def test_the_loop_hears_of_a_channel_that_was_closed(broker: Broker, hub: Hub, connection: kombu.Connection) -> None:
    connection.default_channel.basic_ack(4711)
    wait_for_news(connection)
    ask(connection)
    with pytest.raises(PreconditionFailed):
        turn(hub)


def test_a_worker_consumes_a_queue_that_was_declared_anew(broker: Broker, path: Path, tmp_path: Path) -> None:
    """Again and again while it starts, and while it is idle, and while it runs a task."""
    worker = broker.start_worker(tmp_path, alert=True)
    worker.wait_for_output("Connected to")
    for _ in range(10):
        broker.declare_anew(queue(broker))
    with broker.running(worker):
        broker.declare_anew(queue(broker))
        broker.send("record", path)
        wait_for_lines(path, FINISHED)

        broker.declare_anew(queue(broker))
        idle, busy = path.with_name("idle"), path.with_name("busy")
        broker.send("record", idle)
        wait_for_lines(idle, FINISHED)

        broker.send("wait", busy)
        wait_for_lines(busy, STARTED)
        broker.declare_anew(queue(broker))
        behind = path.with_name("behind")
        broker.send("record", behind)
        open_gate(busy, 1)
        wait_for_lines(behind, FINISHED)
        assert worker.exit_code is None
