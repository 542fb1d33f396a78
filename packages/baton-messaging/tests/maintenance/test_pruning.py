from datetime import timedelta
from uuid import uuid4

import pytest
from baton_messaging.maintenance.pruning import prune
from baton_messaging.models import Attempt, OutboxMessage, ProcessedMessage
from baton_messaging.publish import publish
from django.conf import settings
from django.db import connection, transaction
from django.test import override_settings
from django.utils import timezone
from django_celery_results.models import TaskResult

from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)


def test_only_what_is_settled_and_past_its_retention_goes() -> None:
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4()) for _ in range(3)))
    published, waiting, fresh = OutboxMessage.objects.order_by("pk")
    OutboxMessage.objects.filter(pk__in=[published.pk, fresh.pk]).update(published_at=timezone.now())
    long_ago = timezone.now() - timedelta(days=400)
    OutboxMessage.objects.filter(pk=published.pk).update(published_at=long_ago, occurred_at=long_ago)
    OutboxMessage.objects.filter(pk=waiting.pk).update(occurred_at=long_ago)
    ProcessedMessage.objects.claim(consumer="a", message_ids=[published.message_id, fresh.message_id], worker="w")
    ProcessedMessage.objects.filter(message_id=published.message_id).update(processed_at=long_ago)
    TaskResult.objects.create(task_id="old")
    TaskResult.objects.update(date_done=long_ago)
    unsent = {"key": "", "envelope": {}, "error_class": "", "due_at": long_ago}
    Attempt.objects.create(message_id=uuid4(), consumer="a", attempt=1, sent_at=None, **unsent)
    Attempt.objects.create(message_id=uuid4(), consumer="a", attempt=1, sent_at=long_ago, **unsent)

    counts = prune()

    assert (counts["outbox"], counts["inbox"], counts["attempts"], counts["results"]) == (1, 1, 1, 1)
    assert set(OutboxMessage.objects.values_list("pk", flat=True)) == {waiting.pk, fresh.pk}
    assert ProcessedMessage.objects.get().message_id == fresh.message_id
    assert Attempt.objects.get().sent_at is None
    assert not TaskResult.objects.exists()


def test_the_inbox_knows_a_message_as_long_as_a_copy_of_it_waits() -> None:
    """Parked by a pause that is longer than the retention: it would run a second time."""
    long_ago = timezone.now() - timedelta(days=400)
    ids = parked_id, sent_id, elsewhere_id = [uuid4() for _ in range(3)]
    ProcessedMessage.objects.claim(consumer="a", message_ids=ids, worker="w")
    ProcessedMessage.objects.update(processed_at=long_ago)
    common = {"attempt": 0, "key": "", "envelope": {}, "error_class": "", "due_at": long_ago}
    Attempt.objects.create(message_id=parked_id, consumer="a", sent_at=None, **common)
    Attempt.objects.create(message_id=sent_id, consumer="a", sent_at=timezone.now(), **common)
    Attempt.objects.create(message_id=elsewhere_id, consumer="b", sent_at=None, **common)

    assert prune()["inbox"] == 2
    assert ProcessedMessage.objects.get().message_id == parked_id
    Attempt.objects.filter(message_id=parked_id).update(sent_at=timezone.now())
    assert prune()["inbox"] == 1


def test_a_large_backlog_goes_in_batches_and_a_second_tick_finds_nothing() -> None:
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4()) for _ in range(25)))
    OutboxMessage.objects.update(published_at=timezone.now() - timedelta(days=400))
    with override_settings(BATON={**settings.BATON, "PRUNE_BATCH_SIZE": 10}):
        assert prune()["outbox"] == 25
        assert prune()["outbox"] == 0


def test_two_pruners_at_once_do_not_wait_for_each_other() -> None:
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4()) for _ in range(5)))
    OutboxMessage.objects.update(published_at=timezone.now() - timedelta(days=400))
    with transaction.atomic():
        list(OutboxMessage.objects.select_for_update().order_by("pk")[:2])  # another pruner holds two of them
        other = connection.copy()
        try:
            with other.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM (SELECT 1 FROM baton_outbox FOR UPDATE SKIP LOCKED) AS t")
                assert cursor.fetchone() == (3,)
        finally:
            other.close()
