"""Many bundles are sent together; when that fails, one by one, which loses nothing."""

from uuid import uuid4

import kombu
import pytest
from baton_messaging.broker.redis.notify import NotifyingBatch
from baton_messaging.conf import baton
from baton_messaging.models import OutboxMessage
from baton_messaging.publish import publish
from baton_messaging.relaying.outbox_round import send_outbox
from celery import current_app
from django.db import transaction
from kombu.exceptions import BatchPublishError  # type: ignore[attr-defined]  # the stubs are older
from pytest_django import Settings

from tests.relaying.outbox_and_queue import bundles, place
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def test_many_bundles_wait_for_the_broker_once(producer: kombu.Producer, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed = []
    flush = NotifyingBatch.flush

    def count_and_flush(batch: NotifyingBatch) -> None:
        flushed.append(batch)
        flush(batch)

    monkeypatch.setattr(NotifyingBatch, "flush", count_and_flush)
    place(250)
    send_outbox(producer)
    assert len(flushed) == 1
    assert sum(len(bundle) for bundle in bundles()) == 250


@pytest.mark.parametrize("arrived", [True, False])
def test_a_batch_of_which_nobody_knows_what_arrived_is_sent_again(
    producer: kombu.Producer, monkeypatch: pytest.MonkeyPatch, arrived: bool
) -> None:
    flush = NotifyingBatch.flush

    def lose_the_answer(batch: NotifyingBatch) -> None:
        if arrived:
            flush(batch)
        raise BatchPublishError("the connection broke")

    monkeypatch.setattr(NotifyingBatch, "flush", lose_the_answer)
    place(250)
    send_outbox(producer)
    assert not OutboxMessage.objects.waiting().exists()
    sealed = [one for bundle in bundles() for one in bundle]
    assert len(set(sealed)) == 250
    assert len(sealed) == (500 if arrived else 250)


def test_a_bundle_is_no_larger_than_a_worker_takes(producer: kombu.Producer) -> None:
    """In a body each quote of an envelope takes two characters: the worst text is nothing but quotes."""
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4(), behaviour='"' * 60_000) for _ in range(20)))
    send_outbox(producer)
    found, bodies = [], []
    with current_app.connection_for_read() as broker:
        queue = current_app.amqp.queues["sample"].bind(broker.default_channel)
        while message := queue.get(no_ack=True):
            bodies.append(len(message.body or ""))
            found += message.payload[0][0]
    assert len(found) == 20
    assert 1 < len(bodies) < 20
    assert max(bodies) <= baton().max_message_bytes


def test_a_bundle_has_no_more_messages_than_a_worker_takes(producer: kombu.Producer, settings: Settings) -> None:
    settings.BATON = {**settings.BATON, "MAX_BUNDLE_SIZE": 40}
    place(100)
    send_outbox(producer)
    assert sorted(map(len, bundles())) == [20, 40, 40]
