"""A bundle in one transaction: quick when all goes well, and careful as soon as one message fails."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from baton_messaging.consuming import delivery
from baton_messaging.consuming.failures import record_failure
from baton_messaging.consuming.transaction import process_alone, process_together
from baton_messaging.messages.envelope import Envelope, seal
from baton_messaging.models import DeadLetter, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.models.inbox import ProcessedQuerySet
from baton_messaging.publish import publish
from baton_messaging.signals import dead_lettered
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from tests.sample.events import Sampled
from tests.sample.models import Effect
from tests.sample.tasks import take_one

pytestmark = pytest.mark.django_db(transaction=True)


def published(*behaviours: str) -> list[Envelope]:
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4(), behaviour=behaviour) for behaviour in behaviours))
    return [message.envelope() for message in OutboxMessage.objects.order_by("pk")]


def effects() -> list[str]:
    return [str(sample_id) for sample_id in Effect.objects.order_by("pk").values_list("sample_id", flat=True)]


def processed() -> set[UUID]:
    return set(ProcessedMessage.objects.values_list("message_id", flat=True))


def test_a_bundle_in_which_nothing_fails_needs_no_savepoint() -> None:
    envelopes = published("ok", "ok", "ok")
    with CaptureQueriesContext(connection) as queries:
        process_together(take_one, envelopes)
    assert not [query["sql"] for query in queries if "SAVEPOINT" in query["sql"]]
    assert effects() == [envelope.key for envelope in envelopes]
    assert processed() == {envelope.message_id for envelope in envelopes}


@pytest.mark.parametrize("behaviour", ["permanent", "exit", "broken_query", "swallow"])
def test_a_failure_leaves_the_effects_of_the_others_once(behaviour: str) -> None:
    first, bad, last = published("ok", behaviour, "ok")
    process_together(take_one, [first, bad, last])
    assert effects() == [first.key, last.key]
    assert processed() == {first.message_id, last.message_id}
    assert DeadLetter.objects.get().message_id == bad.message_id
    follow_ups = OutboxMessage.objects.filter(name="sample.chained")
    assert set(follow_ups.values_list("causation_id", flat=True)) == processed()


def test_a_handler_that_swallows_a_database_error_is_not_taken_for_done() -> None:
    bad, _other = envelopes = published("swallow", "ok")
    process_together(take_one, envelopes)
    letter = DeadLetter.objects.get()
    assert (letter.message_id, letter.reason) == (bad.message_id, Reason.PERMANENT_ERROR)
    assert TransactionManagementError.__name__ in letter.error_class


def test_what_was_held_at_first_and_no_longer_a_moment_later_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not taken for a repeat: that would lose it."""
    (envelope,) = published("ok")
    monkeypatch.setattr(ProcessedQuerySet, "claim_unless_held", lambda *_args, **_options: set())
    process_alone(take_one, envelope)
    assert effects() == [envelope.key]


def test_a_message_that_dies_when_another_copy_of_it_has_taken_effect_is_no_dead_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (envelope,) = published("permanent")
    heard: list[str] = []

    def record_late(task: Any, failed: Envelope, error: BaseException) -> None:
        ProcessedMessage.objects.claim(consumer=task.name, message_ids=[failed.message_id], worker="another")
        record_failure(task, failed, error)

    def hear(*, key: str, **_kwargs: Any) -> None:
        heard.append(key)

    monkeypatch.setattr(delivery, "record_failure", record_late)
    dead_lettered.connect(hear)
    try:
        delivery.deliver(take_one, [seal(envelope, to=take_one.name)])
    finally:
        dead_lettered.disconnect(hear)
    assert not DeadLetter.objects.exists()
    assert heard == []


def test_of_a_bundle_what_was_processed_before_is_skipped() -> None:
    first, second = published("ok", "ok")
    process_alone(take_one, first)
    process_together(take_one, [first, second])
    assert effects() == [first.key, second.key]
