"""Many bundles are sent together; when that fails, one by one, which loses nothing."""

import kombu
import pytest
from baton_messaging.broker.redis.notify import NotifyingBatch
from baton_messaging.models import OutboxMessage
from baton_messaging.relaying.outbox_round import send_outbox
from kombu.exceptions import BatchPublishError  # type: ignore[attr-defined]  # the stubs are older

from tests.relaying.outbox_and_queue import bundles, place

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
