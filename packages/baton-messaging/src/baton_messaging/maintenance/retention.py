"""Retention of what the list of dead letters keeps alive, and of what may go.

Invariants: an unsettled dead letter is never pruned. The inbox row of a message outlives every dead letter that can
still be replayed or restored, and every copy that waits to be sent, so the question "was it applied already?" has an
answer as long as a person may ask.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from baton_messaging.conf import baton
from baton_messaging.models import Attempt, DeadLetter, Interruption, ProcessedMessage, Replay
from baton_messaging.models.dead_letter import UNSETTLED, State, retention

ANSWERABLE = (*UNSETTLED, State.DISCARDED)  # a resolved one cannot come back


def prunable_inbox(rows: "QuerySet[ProcessedMessage]") -> "QuerySet[ProcessedMessage]":
    """Leave out the rows that a dead letter may still ask for, or a copy that is still to be sent: a pause may last."""
    same: dict[str, Any] = {"message_id": OuterRef("message_id"), "consumer": OuterRef("consumer")}
    waiting = Exists(Attempt.objects.filter(sent_at=None, **same))
    return rows.filter(~_has_letter(message_id="message_id", consumer="consumer", state__in=ANSWERABLE), ~waiting)


def prunable_attempts(rows: "QuerySet[Attempt]") -> "QuerySet[Attempt]":
    """Leave out the history of dead letters that nobody has dealt with yet."""
    return rows.filter(~_has_letter(message_id="message_id", consumer="consumer", state__in=ANSWERABLE))


def prunable_interruptions(now: datetime) -> "QuerySet[Interruption]":
    """Return the notes that no dead letter needs any more."""
    old = now - timedelta(days=baton().outbox_retention_days)
    return Interruption.objects.filter(~_has_letter(task_id="task_id", state__in=ANSWERABLE), seen_at__lt=old)


def prunable_letters(now: datetime) -> "QuerySet[DeadLetter]":
    """Return the settled dead letters that are past their purge date."""
    return DeadLetter.objects.past_retention(now)


def prunable_replays(now: datetime) -> "QuerySet[Replay]":
    """Return the replays of which no dead letter is left."""
    return Replay.objects.filter(
        ~Exists(DeadLetter.objects.filter(replay=OuterRef("pk"))), requested_at__lt=now - retention()
    )


def _has_letter(*, state__in: Any, **columns: str) -> Exists:
    same = {name: OuterRef(column) for name, column in columns.items()}
    return Exists(DeadLetter.objects.filter(state__in=state__in, **same))
