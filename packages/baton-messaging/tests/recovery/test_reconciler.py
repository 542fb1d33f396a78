"""What is sent again, and what is not: one situation each, against a real broker."""

from datetime import timedelta

import pytest
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.flow_control.pauses import Target, pause
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, Recovery
from baton_messaging.recovery.losses import losses_of
from baton_messaging.recovery.queue_states import take_snapshot
from baton_messaging.recovery.reconciler import reconcile
from baton_messaging.recovery.resend import send_again
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE
from celery import current_app
from django.db.models import F

from tests.dead_letters.factories import SHELL
from tests.recovery.situations import CONSUMER, age_retries, die, fail, hold, lose, process, relay_retries, send
from tests.relaying.outbox_and_queue import bundles

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def test_what_an_emptied_broker_has_lost_is_sent_again_once_and_counted() -> None:
    send(3)
    lose()
    assert reconcile().sent_again == {CONSUMER: 3}
    assert reconcile().sent_again == {}  # they wait for the relay
    assert relay_retries() == 3
    assert sum(len(bundle) for bundle in bundles()) == 3
    assert reconcile().sent_again == {}  # sent a moment ago
    assert Recovery.objects.get(consumer=CONSUMER).message_count == 3


def test_what_was_sent_again_and_lost_again_is_sent_once_more() -> None:
    send()
    for _ in range(2):
        lose()
        assert reconcile().sent_again == {CONSUMER: 1}
        relay_retries()
        age_retries(300)
    assert Recovery.objects.get(consumer=CONSUMER).message_count == 2


def test_a_queue_that_is_merely_long_is_left_alone() -> None:
    send(200, age_seconds=7_200)
    assert reconcile().lost == {}
    assert not Attempt.objects.exists()


def test_what_later_messages_have_overtaken_is_lost_though_the_queue_is_not_empty() -> None:
    lost = send(2, age_seconds=900)
    lose()
    later = send(12, age_seconds=600)
    waiting = send(1, age_seconds=500)
    assert reconcile().lost == {}
    process(later)
    assert reconcile().lost == {CONSUMER: 2}
    assert set(Attempt.objects.values_list("message_id", flat=True)) == {row.message_id for row in lost}
    assert waiting[0].message_id not in set(Attempt.objects.values_list("message_id", flat=True))


def test_messages_sent_at_about_the_same_time_overtake_nobody() -> None:
    send(1, age_seconds=610)
    process(send(12, age_seconds=600))
    assert reconcile().lost == {}


def test_while_dead_letters_wait_for_the_collector_nothing_is_lost() -> None:
    (row,) = send()
    lose()  # as if it had killed its worker, time and again
    with current_app.connection_for_write() as broker:
        dead = current_app.amqp.queues[DEAD_LETTER_QUEUE].bind(broker.default_channel)
        current_app.amqp.Producer(broker).publish("x", exchange=dead.exchange, routing_key=dead.routing_key)
        assert reconcile().lost == {}
        assert dead.get(no_ack=True)
    assert reconcile().lost == {CONSUMER: 1}
    assert Attempt.objects.get().message_id == row.message_id


def test_a_lost_retry_is_sent_again_and_keeps_its_count_of_attempts() -> None:
    (row,) = send()
    lose()
    fail(row, sent=True)
    assert reconcile().sent_again == {CONSUMER: 1}
    attempt = Attempt.objects.get()
    assert (attempt.attempt, attempt.sent_at) == (1, None)
    assert relay_retries() == 1


def test_of_two_reconcilers_that_found_the_same_one_sends_it() -> None:
    first, retry = send(2)
    lose()
    fail(retry, sent=True)
    states, _held = take_snapshot(["sample"])
    found = losses_of(CONSUMER, states["sample"], in_flight=(), limit=10)
    assert {loss.message_id for loss in found} == {first.message_id, retry.message_id}
    assert [send_again(CONSUMER, found), send_again(CONSUMER, found)] == [2, 0]
    assert losses_of(CONSUMER, states["sample"], in_flight=(), limit=10) == []
    assert relay_retries() == 2


def test_a_lost_replay_of_a_dead_letter_is_sent_again() -> None:
    (row,) = send()
    lose()
    die(row)
    assert reconcile().lost == {}
    replay(Selection.of({"ids": [DeadLetter.objects.get().pk]}), actor=SHELL, canary_count=0, why="repaired")
    assert relay_retries() == 1
    lose()
    age_retries(300)
    DeadLetter.objects.update(requested_at=F("requested_at") - timedelta(seconds=300))
    assert reconcile().sent_again == {CONSUMER: 1}


@pytest.mark.parametrize("where", ["processed", "waits for its retry", "dead", "in flight", "paused", "young"])
def test_what_is_somewhere_is_not_lost(where: str) -> None:
    (row,) = send(age_seconds=0 if where == "young" else 300)
    lose()
    match where:
        case "processed":
            process([row])
        case "waits for its retry":
            fail(row, sent=False)
        case "dead":
            die(row)
        case "in flight":
            hold([row.message_id])
        case "paused":
            pause(Target(consumer=CONSUMER), actor=SHELL, why="it moves")
    assert reconcile().lost == {}


def test_what_a_dead_worker_had_in_hand_is_lost() -> None:
    (row,) = send()
    lose()
    hold([row.message_id], beaten_seconds_ago=60)
    assert reconcile().lost == {CONSUMER: 1}


def test_a_dry_run_tells_and_changes_nothing() -> None:
    send()
    lose()
    outcome = reconcile(dry_run=True)
    assert (outcome.lost, outcome.sent_again) == ({CONSUMER: 1}, {CONSUMER: 0})
    assert not Attempt.objects.exists()
    assert not Recovery.objects.exists()


def test_without_an_answer_of_the_broker_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    from celery import current_app

    send()
    lose()
    monkeypatch.setattr(current_app.conf, "broker_read_url", "redis://127.0.0.1:1/0")
    outcome = reconcile()
    assert outcome.broker_error
    assert outcome.sent_again == {}


def test_what_nobody_consumed_is_settled_and_not_sent_to_a_consumer_that_came_later() -> None:
    (row,) = send()
    lose()
    OutboxMessage.objects.filter(pk=row.pk).update(sent_to=[])
    assert reconcile().settled_count == 1
    assert not Attempt.objects.exists()
