"""Rows past their retention are deleted in small batches: short locks, and a tick that comes twice harms nothing (F31).

Invariant: nothing that is still on its way is deleted: an unpublished outbox row, a retry that is not sent yet, a dead
letter that no person has dealt with, nor what is needed to answer for it (maintenance/retention.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django_celery_results.models import TaskResult

from baton_messaging.conf import baton
from baton_messaging.maintenance.retention import (
    prunable_attempts,
    prunable_inbox,
    prunable_interruptions,
    prunable_letters,
    prunable_replays,
)
from baton_messaging.models import (
    Attempt,
    FutureMessage,
    Heartbeat,
    Minute,
    OutboxMessage,
    ProcessedMessage,
    TaskReturn,
)

HEARTBEAT_RETENTION = timedelta(days=1)  # of a process that has ended, or was killed: long enough to ask in the morning


@dataclass(frozen=True)
class Retention:
    """Rows that may go, and the setting that says when."""

    name: str
    rows: "models.QuerySet[Any]"


def retentions(now: datetime) -> Iterator[Retention]:
    """Return what is past its retention at ``now``."""
    keep = baton()
    outbox, inbox = now - timedelta(days=keep.outbox_retention_days), now - timedelta(days=keep.inbox_retention_days)
    minutes, results = (
        now - timedelta(days=keep.minute_retention_days),
        now - timedelta(days=keep.result_retention_days),
    )
    yield Retention("outbox", OutboxMessage.objects.filter(published_at__lt=outbox))
    ended = Q(released_at__lt=outbox) | Q(cancelled_at__lt=outbox)
    yield Retention("future_messages", FutureMessage.objects.filter(ended))
    yield Retention("dead_letters", prunable_letters(now))
    yield Retention("inbox", prunable_inbox(ProcessedMessage.objects.filter(processed_at__lt=inbox)))
    yield Retention("attempts", prunable_attempts(Attempt.objects.filter(sent_at__lt=outbox)))
    yield Retention("interruptions", prunable_interruptions(now))
    yield Retention("replays", prunable_replays(now))
    yield Retention("heartbeats", Heartbeat._base_manager.filter(beaten_at__lt=now - HEARTBEAT_RETENTION))
    yield Retention("minutes", Minute.objects.filter(is_folded=True, minute__lt=minutes))
    yield Retention("task_returns", TaskReturn.objects.filter(returned_at__lt=results))
    yield Retention("results", TaskResult.objects.filter(date_done__lt=results))


def prune(now: datetime | None = None) -> dict[str, int]:
    """Delete everything past its retention; return the counts by name."""
    return {retention.name: _delete_in_batches(retention.rows) for retention in retentions(now or timezone.now())}


def _delete_in_batches(rows: "models.QuerySet[Any]") -> int:
    size = baton().prune_batch_size
    total = 0
    while True:
        with transaction.atomic():
            # A second pruner at work takes other rows instead of waiting for ours.
            batch = list(rows.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True)[:size])
            rows.model._base_manager.filter(pk__in=batch).delete()
        total += len(batch)
        if len(batch) < size:
            return total
