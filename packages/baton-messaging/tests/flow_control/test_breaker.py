"""The circuit breaker, step by step, against the real tables and the real broker."""

from datetime import timedelta
from uuid import uuid4

import kombu
import pytest
from baton_messaging.consuming.delivery import deliver
from baton_messaging.diagnosis.progress import progress_of
from baton_messaging.messages.envelope import Envelope, seal, unseal
from baton_messaging.models import Attempt, Circuit, DeadLetter, OutboxMessage, Pause, ProcessedMessage
from baton_messaging.publish import publish
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from tests.relaying.outbox_and_queue import bundles
from tests.sample.events import Sampled
from tests.sample.models import Effect
from tests.sample.tasks import take_one

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def published(*behaviours: str) -> list[Envelope]:
    with transaction.atomic():
        ids = publish(*(Sampled(sample_id=uuid4(), behaviour=behaviour) for behaviour in behaviours))
    messages = {message.message_id: message for message in OutboxMessage.objects.filter(message_id__in=ids)}
    return [messages[message_id].envelope() for message_id in ids]


def run(*envelopes: Envelope) -> None:
    for envelope in envelopes:
        deliver(take_one, [seal(envelope, to=take_one.name)])


def opened() -> Circuit:
    run(*published("transient", "transient", "transient"))
    return Circuit.objects.open().get()


def begin_probe(producer: kombu.Producer) -> list[Envelope]:
    """Let the time come, and the relay look twice: it names the message, then sends it."""
    Circuit.objects.update(next_probe_at=timezone.now())
    Attempt.objects.filter(sent_at=None, due_at__gt=timezone.now()).update(due_at=timezone.now())
    send_retries(producer)
    send_retries(producer)
    return [unseal(sealed).envelope for bundle in bundles() for sealed in bundle]


def test_three_messages_in_a_row_that_fail_on_transient_errors_open_the_circuit() -> None:
    run(*published("transient", "transient"))
    assert not Circuit.objects.open().exists()
    run(*published("transient"))
    circuit = Circuit.objects.open().get()
    assert (circuit.consumer, circuit.error_class) == ("sample.take_one", "baton_messaging.errors.TransientError")


def test_one_message_that_fails_again_and_again_opens_nothing(settings: Settings) -> None:
    settings.BATON = {**settings.BATON, "BREAKER_MESSAGE_COUNT": 2}
    (envelope,) = published("transient")
    run(envelope, envelope)
    assert Attempt.objects.count() == 2
    assert not Circuit.objects.open().exists()


@pytest.mark.parametrize("between", ["ok", "permanent"])
def test_an_answer_in_between_keeps_the_circuit_closed(between: str) -> None:
    run(*published("transient", "transient", between, "transient"))
    assert not Circuit.objects.open().exists()


def test_while_it_is_open_a_delivery_costs_no_attempt_and_runs_nothing() -> None:
    opened()
    waiting = published("ok", "transient")
    deliver(take_one, [seal(envelope, to=take_one.name) for envelope in waiting])
    parked = Attempt.objects.filter(message_id__in=[envelope.message_id for envelope in waiting])
    assert [(row.attempt, row.sent_at) for row in parked] == [(0, None), (0, None)]
    assert not Effect.objects.exists()
    (progress,) = progress_of(waiting[0].key)
    assert (progress.state, progress.attempts) == ("waiting", 0)
    assert progress.error is not None
    assert "one at a time" in progress.error


def test_the_relay_parks_what_is_published_while_it_is_open(producer: kombu.Producer) -> None:
    opened()
    bundles()
    OutboxMessage.objects.update(published_at=timezone.now())
    (envelope,) = published("ok")
    send_outbox(producer)
    assert bundles() == []
    assert not OutboxMessage.objects.waiting().exists()
    assert Attempt.objects.get(message_id=envelope.message_id).attempt == 0


def test_one_message_at_a_time_is_a_probe_and_a_failed_one_costs_no_attempt(producer: kombu.Producer) -> None:
    opened()
    attempts_before = Attempt.objects.count()
    (first,) = begin_probe(producer)
    assert begin_probe(producer) == []
    run(first)
    circuit = Circuit.objects.open().get()
    assert (circuit.probe_message_id, circuit.probe_count) == (None, 1)
    assert circuit.next_probe_at > timezone.now() + timedelta(seconds=8)
    assert Attempt.objects.count() == attempts_before
    (second,) = begin_probe(producer)
    assert second.message_id != first.message_id


def test_a_probe_that_succeeds_closes_the_circuit_and_lets_all_go(producer: kombu.Producer) -> None:
    opened()
    run(*published("ok", "ok"))
    Attempt.objects.filter(attempt__gt=0).update(sent_at=timezone.now())
    (probed,) = begin_probe(producer)
    run(probed)
    assert ProcessedMessage.objects.filter(message_id=probed.message_id).exists()
    send_retries(producer)  # notices
    circuit = Circuit.objects.get()
    assert (circuit.opened_at, circuit.probe_message_id) == (None, None)
    assert circuit.closed_at is not None
    send_retries(producer)
    assert sum(len(bundle) for bundle in bundles()) == 1


def test_a_probe_that_dies_of_itself_gives_its_place_to_the_next(producer: kombu.Producer) -> None:
    opened()
    Attempt.objects.all().update(sent_at=timezone.now())
    run(*published("permanent", "ok"))
    (first,) = begin_probe(producer)
    run(first)
    assert DeadLetter.objects.get().message_id == first.message_id
    (second,) = begin_probe(producer)
    assert second.message_id != first.message_id


def test_a_probe_that_nobody_answers_is_over_in_the_end(producer: kombu.Producer) -> None:
    opened()
    begin_probe(producer)  # and the broker lost it
    Circuit.objects.update(probe_sent_at=timezone.now() - timedelta(seconds=301))
    assert len(begin_probe(producer)) == 1


@pytest.mark.parametrize(("event_name", "probe_count"), [("sample.chained", 1), ("sample.sampled", 0)])
def test_a_key_that_is_paused_for_another_event_can_be_let_through_as_a_probe(
    event_name: str, probe_count: int, producer: kombu.Producer
) -> None:
    opened()
    for key in Attempt.objects.values_list("key", flat=True):
        Pause.objects.create(event_name=event_name, key=key, paused_by="ann", via="command", why="x")
    assert len(begin_probe(producer)) == probe_count


def test_after_the_grace_a_probe_costs_attempts_again(producer: kombu.Producer) -> None:
    opened()
    Circuit.objects.update(opened_at=timezone.now() - timedelta(hours=7))
    (probed,) = begin_probe(producer)
    run(probed)
    assert Attempt.objects.filter(message_id=probed.message_id).latest("attempt").attempt == 2


def test_an_outage_that_outlives_every_retry_fills_no_list(producer: kombu.Producer) -> None:
    envelopes = published(*["transient"] * 10)
    OutboxMessage.objects.update(published_at=timezone.now())
    run(*envelopes)
    for _ in range(30):
        run(*begin_probe(producer))
    assert not DeadLetter.objects.exists()
    assert Circuit.objects.open().get().probe_count == 30


def test_a_message_that_succeeds_pays_no_statement_for_all_this(producer: kombu.Producer) -> None:
    (envelope,) = published("ok")
    with CaptureQueriesContext(connection) as queries:
        send_outbox(producer)
        send_retries(producer)
    assert len(queries) == 3  # claim, mark, look for retries
    with CaptureQueriesContext(connection) as queries:
        run(envelope)
    statements = [query["sql"].split()[0] for query in queries]
    assert statements == ["BEGIN", "INSERT", "INSERT", "INSERT", "UPDATE", "COMMIT", "NOTIFY"]
