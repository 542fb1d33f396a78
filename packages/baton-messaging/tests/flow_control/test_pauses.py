"""The kill switch, step by step."""

import kombu
import pytest
from baton_messaging.audit.actors import Actor
from baton_messaging.audit.errors import NotPermitted, WhyMissing
from baton_messaging.consuming.delivery import deliver
from baton_messaging.consuming.transaction import _process_long
from baton_messaging.diagnosis.progress import progress_of
from baton_messaging.flow_control.pauses import AlreadyPaused, NotPaused, Target, UnknownTarget, pause, resume
from baton_messaging.messages.bundle import Bundle
from baton_messaging.models import Attempt, AuditEntry, OutboxMessage, Pause, ProcessedMessage
from baton_messaging.models.audit import Action, Outcome
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.flow_control.test_breaker import published, run
from tests.relaying.outbox_and_queue import bundles
from tests.sample.models import Effect
from tests.sample.tasks import take_one

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]
CONSUMER = Target(consumer="sample.take_one")
ANN = Actor(name="ann", via="command")


def sent() -> int:
    return sum(len(bundle) for bundle in bundles())


def test_a_paused_consumer_gets_nothing_and_its_messages_wait_and_say_so(producer: kombu.Producer) -> None:
    pause(CONSUMER, actor=ANN, why="the mail server moves")
    (envelope,) = published("ok")
    send_outbox(producer)
    assert sent() == 0
    (progress,) = progress_of(envelope.key)
    assert (progress.state, progress.attempts, progress.next_attempt_at) == ("waiting", 0, None)
    assert progress.error is not None
    assert progress.error.startswith("paused since 2")
    assert "moves" not in progress.error  # the reason is for operators
    resume(CONSUMER, actor=ANN)
    send_retries(producer)
    assert sent() == 1
    assert progress_of(envelope.key)[0].state == "queued"


def test_what_a_worker_has_when_the_pause_comes_is_parked_without_cost_and_runs_once_afterwards(
    producer: kombu.Producer,
) -> None:
    envelopes = published("ok", "ok")
    pause(CONSUMER, actor=ANN, why="x")
    deliver(take_one, Bundle.of(take_one.name, envelopes).sealed)
    deliver(take_one, Bundle.of(take_one.name, envelopes).sealed)  # and a copy of it
    assert not Effect.objects.exists()
    assert list(Attempt.objects.values_list("attempt", "sent_at")) == [(0, None), (0, None)]
    resume(CONSUMER, actor=ANN)
    send_retries(producer)
    for bundle in bundles():
        deliver(take_one, bundle)
    assert Effect.objects.count() == 2


def test_a_retry_that_is_due_waits_and_goes_on_counting_afterwards(producer: kombu.Producer) -> None:
    (envelope,) = published("transient")
    OutboxMessage.objects.update(published_at=timezone.now(), sent_to=[CONSUMER.consumer])
    run(envelope)
    Attempt.objects.update(due_at=timezone.now())
    pause(CONSUMER, actor=ANN, why="x")
    send_retries(producer)
    assert sent() == 0
    (progress,) = progress_of(envelope.key)
    assert (progress.state, progress.attempts) == ("retrying", 1)
    assert "paused since" in str(progress.error)
    assert "ann" not in str(progress.error)  # customers read it
    resume(CONSUMER, actor=ANN)
    send_retries(producer)
    assert sent() == 1
    run(envelope)
    assert Attempt.objects.latest("attempt").attempt == 2


def test_one_key_of_one_event_waits_and_the_others_go_on(producer: kombu.Producer) -> None:
    held, other = published("ok", "ok")
    target = Target(event_name="sample.sampled", key=held.key)
    pause(target, actor=ANN, why="asked by the customer")
    send_outbox(producer)
    assert sent() == 1
    deliver(take_one, Bundle.of(take_one.name, [held, other]).sealed)
    assert [str(effect.sample_id) for effect in Effect.objects.all()] == [other.key]
    send_retries(producer)
    assert sent() == 0
    resume(target, actor=ANN)
    send_retries(producer)
    assert sent() == 1


def test_the_claim_of_retries_knows_an_event_from_another_with_the_same_key(producer: kombu.Producer) -> None:
    (envelope,) = published("transient")
    OutboxMessage.objects.update(published_at=timezone.now(), sent_to=[CONSUMER.consumer])
    run(envelope)
    Attempt.objects.update(due_at=timezone.now())
    pause(Target(event_name="sample.chained", key=envelope.key), actor=ANN, why="x")
    send_retries(producer)
    assert sent() == 1


def test_a_pause_and_its_end_are_in_the_audit_with_who_when_and_why() -> None:
    pause(CONSUMER, actor=ANN, why=" the mail server moves ")
    resume(CONSUMER, actor=Actor(name="bob", via="admin"), why="it has moved")
    row = Pause.objects.get()
    assert (row.paused_by, row.why, row.resumed_by, row.resumed_because) == (
        "ann",
        "the mail server moves",
        "bob",
        "it has moved",
    )
    entries = AuditEntry.objects.order_by("pk").values_list("actor", "action", "outcome", "why", "details__consumer")
    assert list(entries) == [
        ("ann", Action.PAUSE, Outcome.DONE, "the mail server moves", "sample.take_one"),
        ("bob", Action.RESUME, Outcome.DONE, "it has moved", "sample.take_one"),
    ]


def test_what_is_refused_is_in_the_audit_too_and_changes_nothing() -> None:
    visitor = Actor(name="eve", via="admin", user=User.objects.create(username="eve"))
    with pytest.raises(NotPermitted):
        pause(CONSUMER, actor=visitor, why="x")
    with pytest.raises(WhyMissing):
        pause(CONSUMER, actor=ANN, why=" ")
    with pytest.raises(UnknownTarget, match=r"Did you mean sample\.take_one\?"):
        pause(Target(consumer="sample.takeone"), actor=ANN, why="x")
    with pytest.raises(UnknownTarget):
        pause(Target(event_name="sample.sampled"), actor=ANN, why="x")
    with pytest.raises(NotPaused):
        resume(CONSUMER, actor=ANN)
    assert AuditEntry.objects.filter(outcome=Outcome.REFUSED).count() == 5
    assert not Pause.objects.exists()


def test_the_database_allows_one_pause_per_target_in_force() -> None:
    pause(CONSUMER, actor=ANN, why="x")
    with pytest.raises(AlreadyPaused):
        pause(CONSUMER, actor=ANN, why="y")
    resume(CONSUMER, actor=ANN)
    pause(CONSUMER, actor=ANN, why="z")
    assert Pause.objects.count() == 2


def test_a_handler_outside_a_transaction_is_not_begun_while_it_is_paused() -> None:
    (envelope,) = published("ok")

    def standing() -> str:
        return ProcessedMessage.objects.standing(
            consumer="sample.take_one", event="sample.sampled", message_id=envelope.message_id
        )

    assert standing() == "new"
    pause(CONSUMER, actor=ANN, why="x")
    assert standing() == "maybe held"
    with transaction.atomic():
        _process_long(take_one, envelope)
    assert not Effect.objects.exists()
    assert Attempt.objects.get().sent_at is None
    ProcessedMessage.objects.claim(consumer="sample.take_one", message_ids=[envelope.message_id], worker="")
    assert standing() == "processed"


def test_a_bundle_of_another_consumer_pays_nothing_for_a_pause() -> None:
    pause(Target(consumer="sample.follow"), actor=ANN, why="x")
    (envelope,) = published("ok")
    with CaptureQueriesContext(connection) as queries:
        run(envelope)
    assert len(queries) == 7
