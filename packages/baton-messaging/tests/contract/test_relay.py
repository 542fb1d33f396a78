"""The relay on both brokers: a queue that is gone is made again, one that is full is waited for."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import kombu
import pytest
from baton_messaging.broker.errors import UnroutableMessage
from baton_messaging.conf import baton
from baton_messaging.flow_control.parking import park
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.relaying import bundles
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries
from baton_messaging.routing.queues import EXCHANGE
from celery import current_app
from django.utils import timezone

from tests.contract.brokers import Broker
from tests.dead_letters.causes import envelope_of
from tests.relaying.outbox_and_queue import place
from tests.sample.events import Doomed

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = baton().relay_max_send_failures


@pytest.fixture
def producer(broker: Broker) -> Iterator[Any]:
    """Return a relay's producer that has sent to the queue ``sample`` before."""
    with broker.app.connection_for_write() as connection:
        kombu.Queue("sample").bind(connection.default_channel).delete()  # another test may have made it otherwise
        yield current_app.amqp.Producer(connection, auto_declare=False)
        kombu.Queue("sample").bind(connection.default_channel).delete()


def send_again(producer: Any) -> None:
    OutboxMessage.objects.update(available_at=timezone.now())
    send_outbox(producer)


def test_a_queue_that_is_deleted_under_the_relay_costs_no_message(producer: Any) -> None:
    place(1)
    send_again(producer)
    kombu.Queue("sample").bind(producer.channel).delete()
    place(2)
    send_again(producer)
    assert not OutboxMessage.objects.waiting().exists()
    assert not DeadLetter.objects.exists()


def test_a_queue_that_is_deleted_under_the_relay_costs_no_message_that_was_held_for_long(producer: Any) -> None:
    place(1)
    send_again(producer)
    park("sample.die", [envelope_of(Doomed(sample_id=uuid4())) for _ in range(2)])
    Attempt.objects.update(due_at=timezone.now() - timedelta(days=1))  # by a pause, say
    kombu.Queue("sample").bind(producer.channel).delete()
    send_retries(producer)
    assert not Attempt.objects.filter(sent_at=None).exists()
    assert not DeadLetter.objects.exists()


def test_messages_that_no_queue_takes_end_on_the_list(producer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place(2)
    monkeypatch.setattr(bundles, "send_bundle", refuse)
    for _ in range(ROUNDS - 1):
        send_again(producer)
    assert OutboxMessage.objects.waiting().count() == 2
    assert not DeadLetter.objects.exists()
    send_again(producer)
    assert not OutboxMessage.objects.waiting().exists()
    letters = DeadLetter.objects.all()
    assert {(letter.reason, letter.consumer) for letter in letters} == {(Reason.UNROUTABLE, "sample.take_one")}
    assert len(letters) == 2


@pytest.mark.parametrize(("rounds_overdue", "dead_lettered"), [(ROUNDS - 1, False), (ROUNDS + 1, True)])
def test_a_retry_that_no_queue_takes_waits_as_long(
    producer: Any, monkeypatch: pytest.MonkeyPatch, rounds_overdue: int, dead_lettered: bool
) -> None:
    monkeypatch.setattr(bundles, "send_bundle", refuse)
    envelope = envelope_of(Doomed(sample_id=uuid4()))
    overdue = timedelta(seconds=rounds_overdue * baton().relay_lease_seconds)
    Attempt.objects.create(
        message_id=envelope.message_id,
        consumer="sample.die",
        attempt=1,
        key=envelope.key,
        envelope=envelope.as_dict(),
        error_class="E",
        due_at=timezone.now() - overdue,
    )
    send_retries(producer)
    assert DeadLetter.objects.filter(reason=Reason.UNROUTABLE).exists() is dead_lettered
    assert Attempt.objects.filter(sent_at=None).exists() is not dead_lettered


def refuse(*_args: object, **_options: object) -> None:
    raise UnroutableMessage(EXCHANGE.name, "sample")


def test_messages_for_a_queue_that_is_full_wait_for_room(broker: Broker, producer: Any) -> None:
    if broker.is_valkey:
        pytest.skip("on Valkey no queue is full by itself: memory is, for all of them")
    arguments = {"x-queue-type": "quorum", "x-max-length": 1, "x-overflow": "reject-publish"}
    full = kombu.Queue("sample", EXCHANGE, routing_key="sample", queue_arguments=arguments)
    bound = full.bind(producer.channel)
    bound.declare()
    try:
        for _ in range(5):  # RabbitMQ lets a few more in than it was told to
            producer.publish("x", exchange="", routing_key="sample", mandatory=False)
    except Exception:
        producer.revive(producer.connection.default_channel)
    place(1)
    for _ in range(ROUNDS + 1):
        send_again(producer)
    assert OutboxMessage.objects.waiting().get().send_failure_count == 0
    assert not DeadLetter.objects.exists()
