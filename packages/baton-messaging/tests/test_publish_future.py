"""Messages in the future: published, cancelled and moved. When they leave: relaying/test_future_messages.py."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest
import structlog
from baton_messaging.conf import baton
from baton_messaging.errors import EventTooLarge, NaiveTime, PublishOutsideTransaction
from baton_messaging.messages.context import correlation, messages_in_flight
from baton_messaging.models import FutureMessage, OutboxMessage
from baton_messaging.publish import cancel, cancel_all, publish, reschedule
from django.db import IntegrityError, transaction
from django.utils import timezone

from tests.sample.events import Chained, Sampled

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


def future(count: int = 1, *, sample_id: UUID | None = None, at: datetime | None = None) -> list[UUID]:
    """Publish for in an hour."""
    with transaction.atomic():
        events = [Sampled(sample_id=sample_id or uuid4()) for _ in range(count)]
        return publish(*events, at=at or timezone.now() + HOUR)


def test_a_future_message_waits_as_a_row_of_its_own() -> None:
    at = datetime(2100, 3, 28, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    [message_id] = future(at=at)
    row = FutureMessage.objects.get(message_id=message_id)
    assert row.is_waiting
    assert row.due_at == datetime(2100, 3, 28, 7, 0, tzinfo=UTC)
    assert not OutboxMessage.objects.exists()


def test_it_is_stored_by_the_commit_of_its_change_or_not_at_all() -> None:
    with pytest.raises(PublishOutsideTransaction):
        publish(Sampled(sample_id=uuid4()), at=timezone.now() + HOUR)
    with transaction.atomic():
        publish(Sampled(sample_id=uuid4()), at=timezone.now() + HOUR)
        transaction.set_rollback(True)
    assert not FutureMessage.objects.exists()


def test_many_take_one_statement(django_assert_num_queries: pytest.FixtureRequest) -> None:
    events = [Sampled(sample_id=uuid4()) for _ in range(100)]
    with transaction.atomic(), django_assert_num_queries(1):  # type: ignore[operator]
        publish(*events, at=timezone.now() + HOUR)
    assert FutureMessage.objects.count() == 100


@pytest.mark.parametrize("at", [datetime(2100, 1, 1), "2100-01-01T00:00:00Z", 3600])  # noqa: DTZ001 - it is the point
def test_a_time_without_a_zone_is_refused_in_one_sentence(at: datetime) -> None:
    with pytest.raises(NaiveTime, match="Expected an aware datetime"), transaction.atomic():
        publish(Sampled(sample_id=uuid4()), at=at)
    [message_id] = future()
    with pytest.raises(NaiveTime):
        reschedule(message_id, at)
    assert FutureMessage.objects.get().due_at < timezone.now() + 2 * HOUR


def test_what_no_worker_would_take_is_refused() -> None:
    large = Sampled(sample_id=uuid4(), behaviour="x" * baton().max_message_bytes)
    with pytest.raises(EventTooLarge), transaction.atomic():
        publish(large, at=timezone.now() + HOUR)


def test_a_time_in_the_past_means_at_once_and_the_log_says_so() -> None:
    with structlog.testing.capture_logs() as lines:
        future(at=timezone.now() - HOUR)
    assert [line["event"] for line in lines] == ["due_in_the_past"]
    assert FutureMessage.objects.release_due(limit=10) == 1


def test_cancelling_in_time_is_told_and_kept_with_when_and_by_what() -> None:
    with transaction.atomic():
        publish(Sampled(sample_id=uuid4()))
    cause = OutboxMessage.objects.get()
    [message_id] = future()
    with messages_in_flight([cause.envelope()]):
        assert cancel(message_id)
    row = FutureMessage.objects.get()
    assert row.cancelled_by == f"sample.sampled {cause.message_id}"
    assert row.cancelled_at is not None


def test_what_is_cancelled_in_a_request_names_its_correlation() -> None:
    [message_id] = future()
    correlation_id = uuid4()
    with correlation(correlation_id):
        cancel(message_id)
    assert FutureMessage.objects.get().cancelled_by == f"correlation {correlation_id}"


def test_what_is_cancelled_is_never_released() -> None:
    [message_id] = future(at=timezone.now())
    assert cancel(message_id)
    assert FutureMessage.objects.release_due(limit=10) == 0
    assert not OutboxMessage.objects.exists()


def test_cancelling_twice_too_late_or_what_is_unknown_is_no_error_and_false() -> None:
    [first, late] = [*future(), *future(at=timezone.now())]
    FutureMessage.objects.release_due(limit=10)
    assert cancel(first)
    assert not cancel(first)
    assert not cancel(late)
    assert not cancel(uuid4())
    assert not reschedule(first, timezone.now() + HOUR)
    assert not reschedule(late, timezone.now() + HOUR)


def test_a_rolled_back_cancellation_leaves_it_waiting() -> None:
    [message_id] = future(at=timezone.now())
    with transaction.atomic():
        cancel(message_id)
        transaction.set_rollback(True)
    assert FutureMessage.objects.release_due(limit=10) == 1


def test_all_of_an_event_about_one_key_are_cancelled_and_no_other() -> None:
    sample_id = uuid4()
    future(3, sample_id=sample_id)
    future(2)
    with transaction.atomic():
        publish(Chained(sample_id=sample_id), at=timezone.now() + HOUR)
    assert cancel_all(Sampled, key=sample_id) == 3
    assert FutureMessage.objects.waiting().count() == 3


def test_a_moved_one_is_due_at_the_new_time() -> None:
    [later, sooner] = [*future(at=timezone.now()), *future()]
    assert reschedule(later, timezone.now() + HOUR)
    assert reschedule(sooner, timezone.now())
    FutureMessage.objects.release_due(limit=10)
    assert OutboxMessage.objects.get().message_id == sooner


def test_a_released_one_occurs_when_it_was_due_and_keeps_its_causes() -> None:
    due_at = timezone.now() - HOUR
    with transaction.atomic():
        publish(Sampled(sample_id=uuid4()))
    cause = OutboxMessage.objects.get()
    with messages_in_flight([cause.envelope()]):
        [message_id] = future(at=due_at)
    FutureMessage.objects.release_due(limit=10)
    row = OutboxMessage.objects.get(message_id=message_id)
    assert row.occurred_at == due_at  # so a lag counts from then
    assert (row.causation_id, row.correlation_id) == (cause.message_id, cause.correlation_id)
    assert row.published_at is None


def test_the_database_refuses_a_row_that_was_both_released_and_cancelled() -> None:
    future(at=timezone.now())
    FutureMessage.objects.release_due(limit=10)
    with pytest.raises(IntegrityError, match="baton_future_one_end"):
        FutureMessage.objects.update(cancelled_at=timezone.now())
