"""What a relay writes of a row that is not its own any more: nothing."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import kombu
import pytest
from baton_messaging.broker.errors import UnroutableMessage
from baton_messaging.flow_control.parking import park
from baton_messaging.messages.envelope import Envelope
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.relaying.bundles import Refusals, send_bundles
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries
from celery import current_app
from django.utils import timezone
from pytest_django import Settings

from tests.relaying.outbox_and_queue import bundles, place

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_broker")]

TAKE_ONE = "sample.take_one"
LEASE = timedelta(seconds=30)


def send(round_over: Callable[[kombu.Producer], int]) -> int:
    with current_app.connection_for_write() as broker:
        return round_over(current_app.amqp.Producer(broker, auto_declare=False))


def a_due_retry() -> Attempt:
    place(1)
    message = OutboxMessage.objects.get()
    return Attempt.objects.create(
        message_id=message.message_id,
        consumer=TAKE_ONE,
        attempt=1,
        key=message.key,
        envelope=message.envelope().as_dict(),
        error_class="TimeoutError",
        due_at=timezone.now(),
    )


def test_a_retry_that_a_worker_parks_before_the_relay_has_noted_it_is_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a_due_retry()

    def send_to_a_quick_worker(consumer: str, envelopes: Sequence[Envelope], **options: Any) -> Refusals:
        refusals = send_bundles(consumer, envelopes, **options)
        park(consumer, envelopes)
        return refusals

    with monkeypatch.context() as quick:
        quick.setattr("baton_messaging.relaying.retry_round.send_bundles", send_to_a_quick_worker)
        assert send(send_retries) == 1
    assert Attempt.objects.get().sent_at is None
    assert send(send_retries) == 1
    assert Attempt.objects.get().sent_at
    assert [len(bundle) for bundle in bundles()] == [1, 1]


def test_a_retry_whose_lease_has_ended_is_the_next_relays() -> None:
    a_due_retry()
    slow, _ = Attempt.objects.claim_due(limit=10, lease=LEASE)
    Attempt.objects.update(claimed_until=timezone.now())  # thirty seconds later
    quick, _ = Attempt.objects.claim_due(limit=10, lease=LEASE)
    assert Attempt.objects.release(slow) == 0
    assert Attempt.objects.mark_sent(slow) == 0
    assert Attempt.objects.mark_sent(quick) == 1


def test_a_message_whose_lease_has_ended_is_the_next_relays() -> None:
    place(1)
    slow = OutboxMessage.objects.claim(limit=10, lease=LEASE)
    OutboxMessage.objects.update(available_at=timezone.now())  # thirty seconds later
    quick = OutboxMessage.objects.claim(limit=10, lease=LEASE)
    assert OutboxMessage.objects.release(slow) == 0
    assert OutboxMessage.objects.mark_published({slow[0]: []}) == 0
    slow[0].postpone(sent_to=[], delay=LEASE, error="", at_fault=True)
    assert OutboxMessage.objects.mark_published({quick[0]: [TAKE_ONE]}) == 1
    slow[0].postpone(sent_to=[], delay=LEASE, error="", at_fault=True)
    row = OutboxMessage.objects.get()
    assert (row.sent_to, row.send_failure_count, row.available_at) == ([TAKE_ONE], 0, quick[0].available_at)


@pytest.mark.parametrize(
    ("send_round", "rows", "moment"),
    [(send_outbox, OutboxMessage.objects, "available_at"), (send_retries, Attempt.objects, "claimed_until")],
)
def test_what_another_relay_has_by_now_is_not_dead_lettered(
    send_round: Any, rows: Any, moment: str, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.BATON = {**settings.BATON, "RELAY_MAX_SEND_FAILURES": 1}
    a_due_retry()
    Attempt.objects.update(due_at=timezone.now() - timedelta(days=1))  # longer than it is borne with

    def refuse_slowly(consumer: str, envelopes: Sequence[Envelope], **options: Any) -> Refusals:
        rows.update(**{moment: timezone.now() + LEASE})
        return {envelope.message_id: UnroutableMessage("tasks", "sample") for envelope in envelopes}

    monkeypatch.setattr(f"{send_round.__module__}.send_bundles", refuse_slowly)
    assert send(send_round) == 1
    assert not DeadLetter.objects.exists()
    assert OutboxMessage.objects.waiting().exists()
    assert Attempt.objects.filter(sent_at=None).exists()
