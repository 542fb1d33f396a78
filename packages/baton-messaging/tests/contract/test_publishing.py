"""What a publisher is told: confirmed, unroutable, or not known; one by one and in batches."""

from collections.abc import Iterator
from typing import Any

import kombu
import pytest
from baton_messaging.broker.errors import NO_ROUTE, UnroutableMessage
from baton_messaging.broker.inspect.depth import Depth
from baton_messaging.routing.queues import EXCHANGE
from kombu.exceptions import BatchPublishError  # type: ignore[attr-defined]  # the stubs are older

from tests.contract.brokers import Broker, drain
from tests.contract.celery_app import QUEUES

QUEUE = QUEUES[0]


@pytest.fixture
def connection(broker: Broker) -> Iterator[kombu.Connection]:
    with broker.app.connection_for_write() as opened:
        yield opened


@pytest.fixture
def producer(broker: Broker, connection: kombu.Connection) -> Any:
    broker.app.amqp.queues[QUEUE].bind(connection.default_channel).declare()
    return broker.app.amqp.Producer(connection, auto_declare=False)


@pytest.mark.parametrize("exchange", ["", EXCHANGE.name])
def test_message_without_a_queue_is_refused(broker: Broker, producer: Any, exchange: str) -> None:
    for _ in range(2):  # the channel can still be used
        with pytest.raises(UnroutableMessage) as caught:
            producer.publish("x", exchange=exchange, routing_key="ordres", mandatory=True)
        assert caught.value.reply_code == NO_ROUTE

    producer.publish("x", exchange=exchange, routing_key=QUEUE, mandatory=True)
    assert broker.depth(QUEUE).waiting == 1


def test_batch_publishes_many_messages_and_waits_for_all_of_them(broker: Broker, producer: Any) -> None:
    assert producer.supports_batch_publish
    with producer.batch(max_size=40):
        for number in range(100):
            producer.publish(str(number), exchange="", routing_key=QUEUE, mandatory=True)

    assert broker.depth(QUEUE).waiting == 100


def test_batch_with_a_message_that_has_no_queue_is_refused_and_the_next_one_works(
    broker: Broker, producer: Any
) -> None:
    def publish(*queues: str) -> None:
        with producer.batch():
            for queue in queues:
                producer.publish("x", exchange="", routing_key=queue, mandatory=True)

    with pytest.raises((BatchPublishError, UnroutableMessage)):
        publish(QUEUE, "ordres", QUEUE)

    publish(QUEUE)
    assert broker.depth(QUEUE).waiting >= 1


def test_messages_arrive_in_the_order_they_were_published_in(broker: Broker, connection: kombu.Connection) -> None:
    producer: Any = broker.app.amqp.Producer(connection, auto_declare=False)
    with producer.batch():
        for number in range(20):
            producer.publish(number, exchange="", routing_key=QUEUE)
    seen: list[int] = []

    def keep(body: int, message: Any) -> None:
        seen.append(body)
        message.ack()

    with kombu.Consumer(connection, queues=[broker.app.amqp.queues[QUEUE]], callbacks=[keep], prefetch_count=1):
        while len(seen) < 20:
            drain(connection)
    assert seen == list(range(20))


def test_depth_counts_every_priority_and_what_is_taken(broker: Broker, producer: Any) -> None:
    for priority in (0, 3, 5, 9, None):
        producer.publish("x", exchange="", routing_key=QUEUE, priority=priority)
    assert broker.depth(QUEUE) == Depth(waiting=5, taken=0 if broker.is_valkey else None)

    message = producer.channel.basic_get(QUEUE)

    assert broker.depth(QUEUE) == Depth(waiting=4, taken=1 if broker.is_valkey else None)
    producer.channel.basic_ack(message.delivery_tag)
    assert broker.depth(QUEUE) == Depth(waiting=4, taken=0 if broker.is_valkey else None)


def test_depth_of_a_queue_that_does_not_exist_is_zero(broker: Broker) -> None:
    assert broker.depth("nowhere").total == 0
