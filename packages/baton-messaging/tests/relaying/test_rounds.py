"""The relay's rounds against a real broker: what it does when things go wrong on its side of the boundary."""

import threading
from datetime import timedelta

import kombu
import pytest
from baton_messaging.conf import baton
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import RELAY, Reason
from baton_messaging.relaying.bundles import BrokerTrouble
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries
from celery import current_app
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from tests.relaying.outbox_and_queue import bundles, place

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def test_a_single_message_travels_alone_and_many_share_bundles(producer: kombu.Producer) -> None:
    place(1)
    send_outbox(producer)
    assert [len(bundle) for bundle in bundles()] == [1]
    place(250)
    send_outbox(producer)
    assert [len(bundle) for bundle in bundles()] == [100, 100, 50]


def test_three_relays_send_each_row_once() -> None:
    place(1000)

    def relay_all() -> None:
        try:
            with current_app.connection_for_write() as broker:
                own = current_app.amqp.Producer(broker, auto_declare=False)
                while send_outbox(own):
                    pass
        finally:
            connection.close()

    threads = [threading.Thread(target=relay_all) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sealed = [one for bundle in bundles() for one in bundle]
    assert len(sealed) == len(set(sealed)) == 1000
    assert not OutboxMessage.objects.waiting().exists()


def test_a_broker_that_is_away_costs_a_row_nothing(settings: Settings) -> None:
    settings.BATON = {**settings.BATON, "RELAY_MAX_SEND_FAILURES": 1}  # each round waits for the broker
    place(3)
    with kombu.Connection("redis://127.0.0.1:1/0", transport_options={"socket_connect_timeout": 1}) as away:
        for _ in range(baton().relay_max_send_failures + 1):
            with pytest.raises((BrokerTrouble, *away.connection_errors)):
                send_outbox(current_app.amqp.Producer(away, auto_declare=False))
    rows = OutboxMessage.objects.waiting()
    assert rows.count() == 3
    assert {row.send_failure_count for row in rows} == {0}
    assert not DeadLetter.objects.exists()


def test_a_relay_that_dies_before_it_marks_loses_its_rows_when_the_lease_ends(producer: kombu.Producer) -> None:
    place(2)
    claimed = OutboxMessage.objects.claim(limit=10, lease=timedelta(seconds=30))
    assert len(claimed) == 2
    assert send_outbox(producer) == 0  # another relay may not have them yet
    OutboxMessage.objects.update(available_at=timezone.now())  # thirty seconds later
    assert send_outbox(producer) == 2


def test_an_event_that_no_release_knows_waits_and_then_joins_the_dead_letters(producer: kombu.Producer) -> None:
    place(1)
    OutboxMessage.objects.update(name="sample.renamed")
    for _ in range(baton().relay_max_send_failures):
        assert not DeadLetter.objects.exists()
        OutboxMessage.objects.update(available_at=timezone.now())
        send_outbox(producer)
    letter = DeadLetter.objects.get()
    assert (letter.reason, letter.consumer) == (Reason.UNKNOWN_EVENT, RELAY)
    assert not OutboxMessage.objects.waiting().exists()


def test_a_row_that_cannot_be_sent_holds_up_no_other(producer: kombu.Producer) -> None:
    place(1)
    OutboxMessage.objects.update(name="sample.renamed")
    place(5)
    send_outbox(producer)
    assert sum(len(bundle) for bundle in bundles()) == 5
    assert OutboxMessage.objects.waiting().count() == 1


def test_a_due_retry_is_sent_and_one_that_is_not_due_waits(producer: kombu.Producer) -> None:
    place(2)
    due, later = OutboxMessage.objects.order_by("pk")
    for message, due_at in ((due, timezone.now()), (later, timezone.now() + timedelta(hours=1))):
        Attempt.objects.create(
            message_id=message.message_id,
            consumer="sample.take_one",
            attempt=1,
            key=message.key,
            envelope=message.envelope().as_dict(),
            error_class="TimeoutError",
            due_at=due_at,
        )
    assert send_retries(producer) == 1
    assert [len(bundle) for bundle in bundles()] == [1]
    assert Attempt.objects.get(sent_at=None).message_id == later.message_id


def test_a_retry_of_a_consumer_that_is_gone_joins_the_dead_letters(producer: kombu.Producer) -> None:
    place(1)
    message = OutboxMessage.objects.get()
    Attempt.objects.create(
        message_id=message.message_id,
        consumer="sample.removed",
        attempt=1,
        key=message.key,
        envelope=message.envelope().as_dict(),
        error_class="TimeoutError",
        due_at=timezone.now(),
    )
    send_retries(producer)
    assert DeadLetter.objects.get().reason == Reason.UNROUTABLE
    assert not Attempt.objects.filter(sent_at=None).exists()


def test_the_claim_uses_the_partial_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        cursor.execute("EXPLAIN SELECT id FROM baton_outbox WHERE published_at IS NULL ORDER BY id LIMIT 10")
        plan = "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute("RESET enable_seqscan")
    assert "baton_outbox_waiting" in plan
