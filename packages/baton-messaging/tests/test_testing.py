"""The test kit says what a worker would do: its answers are those of the tables, and it fails where a test must."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from baton_messaging.errors import PermanentError
from baton_messaging.extend import progress_of
from baton_messaging.flow_control.pauses import Target, pause
from baton_messaging.models import Attempt, OutboxMessage, ProcessedMessage
from baton_messaging.publish import publish
from baton_messaging.signals import dead_lettered, dead_letters_settled
from baton_messaging.testing import (
    DeathReason,
    a_dead_letter,
    assert_published,
    dead_letters,
    deliver,
    deliver_bundle,
    discard_dead_letter,
    drain,
    pretend_processed,
    published,
)
from django.db import transaction

from tests.dead_letters.factories import SHELL
from tests.sample.events import Chained, Doomed, Listed, Sampled
from tests.sample.models import Effect
from tests.sample.tasks import die, follow, take_list, take_one

pytestmark = pytest.mark.django_db


@transaction.atomic
def sampled(**fields: Any) -> Sampled:
    event = Sampled(sample_id=uuid4(), **fields)
    publish(event)
    return event


def effects(key: UUID) -> list[str]:
    return sorted(Effect.objects.filter(sample_id=key).values_list("consumer", flat=True))


def test_what_was_published_comes_back_as_events_in_their_order() -> None:
    first, second = sampled(), sampled(behaviour="ok", seconds=0.5)
    assert published() == published(Sampled) == [first, second]
    assert published(Sampled, key=second.sample_id) == [second]
    assert published(Chained) == []


def test_the_one_event_is_returned_and_none_or_two_are_refused() -> None:
    with pytest.raises(AssertionError, match=r"Expected one sample.sampled, got 0\. The outbox has: nothing"):
        assert_published(Sampled)
    first, second = sampled(), sampled()
    assert assert_published(Sampled, key=first.sample_id) == first
    with pytest.raises(AssertionError, match=f"got 2. The outbox has: .*{second.key}"):
        assert_published(Sampled)


def test_a_delivery_is_effect_follow_up_and_inbox_row_and_a_second_one_of_the_message_adds_nothing() -> None:
    event = sampled()
    assert deliver(event, to=take_one, times=2).state == "done"
    assert effects(event.sample_id) == ["take_one"]
    assert assert_published(Chained).sample_id == event.sample_id
    assert ProcessedMessage.objects.get().consumer == "sample.take_one"
    deliver(event, to=take_one)  # it is in the outbox: still the same message
    assert effects(event.sample_id) == ["take_one"]


def test_a_published_event_is_delivered_with_its_correlation() -> None:
    deliver(sampled(), to=take_one)
    cause, follow_up = OutboxMessage.objects.order_by("pk")
    assert (follow_up.correlation_id, follow_up.causation_id) == (cause.correlation_id, cause.message_id)


def test_an_event_that_nobody_published_is_a_new_message_each_time() -> None:
    event = Sampled(sample_id=uuid4())
    deliver(event, to=take_one)
    deliver(event, to=take_one)
    assert effects(event.sample_id) == ["take_one", "take_one"]


def test_a_consumer_that_fails_fails_the_test_with_its_own_error() -> None:
    with pytest.raises(AssertionError, match=r"(?s)done, got dead.*this will never do\n.*in behave"):
        deliver(sampled(behaviour="permanent"), to=take_one)


@pytest.mark.parametrize(("behaviour", "state"), [("permanent", "dead"), ("transient", "retrying")])
def test_a_failure_that_is_expected_leaves_what_a_worker_leaves(behaviour: str, state: str) -> None:
    event = sampled(behaviour=behaviour)
    outcome = deliver(event, to=take_one, expect=state)  # type: ignore[arg-type]  # one of the states
    assert outcome.state == state
    assert effects(event.sample_id) == []
    assert [step.state for step in progress_of(event.key)] == [state]


def test_attempts_are_spent_one_delivery_at_a_time() -> None:
    event = Doomed(sample_id=uuid4(), behaviour="transient")
    with transaction.atomic():
        publish(event)
    deliver(event, to=die, expect="retrying")
    assert Attempt.objects.get().attempt == 1
    deliver(event, to=die, expect="dead")
    assert [dead_letter.reason for dead_letter in dead_letters(consumer="sample.die")] == [DeathReason.RETRIES_SPENT]


def test_a_message_that_comes_twice_has_two_attempts() -> None:
    event = Doomed(sample_id=uuid4(), behaviour="transient")
    with transaction.atomic():
        publish(event)
    deliver(event, to=die, times=2, expect="dead")
    assert Attempt.objects.get().attempt == 1


def test_what_is_paused_is_held_and_the_consumer_does_not_run() -> None:
    event = sampled()
    pause(Target(consumer="sample.take_one"), actor=SHELL, why="a test")
    deliver(event, to=take_one, expect="held")
    assert effects(event.sample_id) == []


def test_a_bundle_is_one_delivery_whose_bad_message_harms_no_other() -> None:
    good, bad = Listed(sample_id=uuid4()), Listed(sample_id=uuid4(), behaviour="permanent")
    states = [outcome.state for outcome in deliver_bundle([good, bad], to=take_list, expect=None)]
    assert states == ["done", "dead"]
    assert effects(good.sample_id) == ["take_list"]


def test_draining_follows_each_message_to_its_end() -> None:
    event = sampled()
    outcomes = drain()
    assert [(outcome.consumer, outcome.state) for outcome in outcomes] == [
        ("sample.take_one", "done"),
        ("sample.follow", "done"),
    ]
    assert effects(event.sample_id) == ["follow", "take_one"]
    assert not OutboxMessage.objects.waiting().exists()
    assert drain() == []


def test_draining_stops_at_what_fails_unless_that_is_expected() -> None:
    sampled(behaviour="permanent")
    with pytest.raises(AssertionError, match="got dead"), transaction.atomic():
        drain()
    assert [outcome.state for outcome in drain(expect=None)] == ["dead"]


def test_progress_can_be_pretended_without_an_effect() -> None:
    event = sampled()
    pretend_processed(event.sample_id)
    assert [step.state for step in progress_of(event.key)] == ["done"]
    assert effects(event.sample_id) == []


def test_a_dead_letter_is_told_to_the_apps_as_a_real_one_is() -> None:
    event, told = sampled(), []
    receiver = lambda **kwargs: told.append((kwargs["key"], kwargs["consumer"]))  # noqa: E731 - must stay referenced
    dead_lettered.connect(receiver)
    try:
        dead_letter = a_dead_letter(event, consumer=follow, error=PermanentError("gone"), attempt_count=3)
    finally:
        dead_lettered.disconnect(receiver)
    assert told == [(event.key, "sample.follow")]
    assert (dead_letter.error_message, dead_letter.attempt_count, dead_letter.event_name) == (
        "gone",
        3,
        "sample.sampled",
    )
    assert dead_letters(key=event.sample_id) == [dead_letter]
    assert dead_letters(consumer="sample.take_one") == []


def test_a_discarded_letter_waits_for_nobody_and_the_apps_are_told_after_the_last() -> None:
    event, told = sampled(), []
    first, last = (a_dead_letter(event, consumer=consumer) for consumer in (follow, take_one))
    receiver = lambda **kwargs: told.append(kwargs["keys"])  # noqa: E731 - must stay referenced
    dead_letters_settled.connect(receiver)
    try:
        discard_dead_letter(first)
        assert (told, dead_letters()) == ([], [last])
        discard_dead_letter(last)
    finally:
        dead_letters_settled.disconnect(receiver)
    assert (told, dead_letters()) == ([{event.key}], [])
