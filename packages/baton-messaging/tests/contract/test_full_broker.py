"""A broker that is full: who consumes goes on, which makes room. RabbitMQ tells who publishes at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import kombu
import pytest
from baton_dev.testing.processes import Process, wait_until
from baton_dev.testing.rabbitmq import RabbitMQ
from baton_messaging.broker.rabbitmq.blocking import is_still_blocked
from baton_messaging.broker.rabbitmq.transport import BrokerBlocked
from baton_messaging.models import OutboxMessage
from baton_messaging.models.heartbeat import Trouble
from baton_messaging.relaying.bundles import BrokerFull
from baton_messaging.relaying.loop import Relay
from baton_messaging.relaying.outbox_round import send_outbox
from celery import current_app

from tests.contract.brokers import Broker, open_gate, wait_for_lines
from tests.contract.celery_app import FINISHED, QUEUES, STARTED
from tests.relaying.outbox_and_queue import place

ON_RABBITMQ = pytest.mark.parametrize("session_broker", ["rabbitmq"], indirect=True)


@contextmanager
def full(broker: Broker) -> Iterator[None]:
    if isinstance(broker.service, RabbitMQ):
        with broker.service.full():
            yield
        return
    with broker.client() as client:
        client.config_set("maxmemory", "1mb")
        try:
            yield
        finally:
            client.config_set("maxmemory", "0")


@pytest.fixture
def connection(broker: Broker) -> Iterator[kombu.Connection]:
    with broker.app.connection_for_write() as opened:
        broker.app.amqp.queues[QUEUES[0]].bind(opened.default_channel).declare()
        kombu.Queue("sample").bind(opened.default_channel).delete()  # another test may have made it otherwise
        yield opened
        with opened.channel() as channel:
            kombu.Queue("sample").bind(channel).delete()


def has_room(connection: kombu.Connection) -> bool:
    return not is_still_blocked(connection, seconds=0.1)


@ON_RABBITMQ
def test_publisher_is_told_at_once_and_publishes_again_when_there_is_room(
    broker: Broker, connection: kombu.Connection, rabbitmq: RabbitMQ
) -> None:
    producer: Any = broker.app.amqp.Producer(connection, auto_declare=False)
    with rabbitmq.full():
        for _ in range(2):
            with pytest.raises(BrokerBlocked, match="short of memory or disk"):
                producer.publish("x", exchange="", routing_key=QUEUES[0])
        assert not has_room(connection)
        other = broker.app.connection_for_write()
        with pytest.raises(BrokerBlocked):
            broker.app.amqp.Producer(other, auto_declare=False).publish("x", exchange="", routing_key=QUEUES[0])
        other.release()  # waits for no answer: none would come
    wait_until(lambda: has_room(connection), what="the broker's word that it takes messages")
    producer.publish("x", exchange="", routing_key=QUEUES[0])
    assert broker.depth().waiting >= 1


def test_worker_starts_and_consumes(broker: Broker, path: Path) -> None:
    broker.send("record", path)
    with full(broker), broker.running(broker.start_worker(path.parent)):
        wait_for_lines(path, FINISHED)


@ON_RABBITMQ
def test_worker_goes_on_consuming(broker: Broker, worker: Process, rabbitmq: RabbitMQ, path: Path) -> None:
    for _ in range(4):
        broker.send("wait", path, queue=QUEUES[1])
    wait_for_lines(path, STARTED, STARTED)
    with rabbitmq.full():
        wait_until(lambda: "blocked" in rabbitmq.states_of_connections(), what="events that are not taken")
        for run in range(1, 5):
            open_gate(path, run)
        wait_for_lines(path, *[STARTED] * 4, *[FINISHED] * 4)


@ON_RABBITMQ
@pytest.mark.django_db(transaction=True)
def test_relay_gives_its_rows_back_and_says_why_it_waits(
    broker: Broker, connection: kombu.Connection, rabbitmq: RabbitMQ, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer: Any = current_app.amqp.Producer(connection, auto_declare=False)
    relay, said = Relay(), []

    def say(what: str) -> None:
        said.append(what)
        relay.stop()  # is obeyed, though the broker is full

    monkeypatch.setattr(relay._heartbeat, "trouble", say)
    place(3)
    with rabbitmq.full():
        with pytest.raises(BrokerFull):
            send_outbox(producer)
        relay._sit_out(connection)
    assert said == [Trouble.BROKER_FULL]
    wait_until(lambda: has_room(connection), what="the broker's word that it takes messages")
    send_outbox(producer)
    assert not OutboxMessage.objects.waiting().exists()
