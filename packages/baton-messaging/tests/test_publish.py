from uuid import uuid4

import pytest
from baton_messaging.conf import baton
from baton_messaging.errors import EventTooLarge, PublishOutsideTransaction
from baton_messaging.messages.context import correlation, messages_in_flight
from baton_messaging.models import OutboxMessage
from baton_messaging.publish import publish
from django.db import transaction

from tests.sample.events import Chained, Sampled

pytestmark = pytest.mark.django_db(transaction=True)


def test_publishing_outside_a_transaction_is_refused() -> None:
    with pytest.raises(PublishOutsideTransaction, match=r"transaction\.atomic"):
        publish(Sampled(sample_id=uuid4()))
    assert not OutboxMessage.objects.exists()


def test_what_no_worker_would_take_is_refused() -> None:
    large = Sampled(sample_id=uuid4(), behaviour="x" * baton().max_message_bytes)
    small = Sampled(sample_id=uuid4())
    with pytest.raises(EventTooLarge, match=r"sample\.sampled of 2097"), transaction.atomic():
        publish(small, large)
    assert not OutboxMessage.objects.exists()


def test_a_rolled_back_change_leaves_no_message() -> None:
    with transaction.atomic():
        publish(Sampled(sample_id=uuid4()))
        transaction.set_rollback(True)
    assert not OutboxMessage.objects.exists()


def test_many_events_take_one_statement(django_assert_num_queries: pytest.FixtureRequest) -> None:
    events = [Sampled(sample_id=uuid4()) for _ in range(100)]
    with transaction.atomic(), django_assert_num_queries(1):  # type: ignore[operator]
        message_ids = publish(*events)
    assert list(OutboxMessage.objects.order_by("pk").values_list("message_id", flat=True)) == message_ids


def test_a_follow_up_names_its_cause_and_keeps_the_correlation() -> None:
    sample_id = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=sample_id))
    first = OutboxMessage.objects.get()
    with messages_in_flight([first.envelope()]), transaction.atomic():
        publish(Chained(sample_id=sample_id))
    second = OutboxMessage.objects.latest("pk")
    assert second.causation_id == first.message_id
    assert second.correlation_id == first.correlation_id == first.message_id


def test_in_a_bundle_the_cause_is_the_message_about_the_same_aggregate() -> None:
    ids = [uuid4(), uuid4()]
    with transaction.atomic():
        publish(*(Sampled(sample_id=sample_id) for sample_id in ids))
    causes = list(OutboxMessage.objects.order_by("pk"))
    with messages_in_flight([cause.envelope() for cause in causes]), transaction.atomic():
        publish(Chained(sample_id=ids[1]), Chained(sample_id=uuid4()))
    related, unrelated = OutboxMessage.objects.filter(name="sample.chained").order_by("pk")
    assert related.causation_id == causes[1].message_id
    assert unrelated.causation_id is None


def test_a_request_s_correlation_id_is_carried() -> None:
    correlation_id = uuid4()
    with correlation(correlation_id), transaction.atomic():
        publish(Sampled(sample_id=uuid4()))
    assert OutboxMessage.objects.get().correlation_id == correlation_id
