from datetime import timedelta
from uuid import uuid4

import pytest
from baton_messaging.diagnosis.progress import ConsumerProgress, progress_of
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.publish import publish
from django.db import transaction
from django.utils import timezone

from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def message() -> OutboxMessage:
    with transaction.atomic():
        publish(Sampled(sample_id=uuid4()))
    return OutboxMessage.objects.get()


def only(message: OutboxMessage) -> ConsumerProgress:
    (progress,) = progress_of(message.key)
    return progress


def test_each_state_is_told_apart(message: OutboxMessage) -> None:
    assert (only(message).state, only(message).consumer) == ("waiting", "sample.take_one")
    OutboxMessage.objects.mark_published({message: ["sample.take_one"]})
    assert only(message).state == "queued"
    due_at = timezone.now() + timedelta(seconds=40)
    Attempt.objects.create(
        message_id=message.message_id,
        consumer="sample.take_one",
        attempt=2,
        key=message.key,
        envelope={},
        error_class="TimeoutError",
        due_at=due_at,
    )
    retrying = only(message)
    assert (retrying.state, retrying.attempts, retrying.max_attempts) == ("retrying", 2, 3)
    assert (retrying.next_attempt_at, retrying.error) == (due_at, "TimeoutError")
    letter = DeadLetter.objects.create(
        message_id=message.message_id,
        consumer="sample.take_one",
        owner="",
        reason=Reason.RETRIES_SPENT,
        error_class="TimeoutError",
        attempt_count=3,
        fingerprint="",
    )
    dead = only(message)
    assert (dead.state, dead.attempts, dead.error) == ("dead", 3, "retries spent: TimeoutError")
    letter.delete()
    ProcessedMessage.objects.claim(consumer="sample.take_one", message_ids=[message.message_id], worker="w")
    done = only(message)
    assert (done.state, done.attempts, done.error) == ("done", 3, None)
    assert done.owner == "Platform team <platform@example.com>"


def test_the_number_of_queries_does_not_grow(message: OutboxMessage, django_assert_num_queries: object) -> None:
    with transaction.atomic():
        publish(*(Sampled(sample_id=message.key) for _ in range(20)))  # type: ignore[arg-type]
    with django_assert_num_queries(6):  # type: ignore[operator]
        assert len(progress_of(message.key)) == 21
