"""Rows become facts: what outbox, inbox, attempts, dead letters and holds say of one message for one consumer."""

import shlex
import sys
from typing import Any
from uuid import UUID

from celery import current_app

from baton_messaging.diagnosis.servers.service import is_of_outside
from baton_messaging.diagnosis.triage.delivery_facts import (
    DeadLetterFacts,
    Failed,
    Held,
    Limits,
    Processed,
    Published,
)
from baton_messaging.diagnosis.triage.gather.snapshot import Snapshot
from baton_messaging.errors import PermanentError
from baton_messaging.models import Attempt, Circuit, DeadLetter, OutboxMessage, Pause, ProcessedMessage
from baton_messaging.models.dead_letter import State


def limits_facts(consumer: str) -> Limits:
    """Return what the consumer declares."""
    task: Any = current_app.tasks.get(consumer)
    if task is None:
        return Limits()
    return Limits(
        max_attempts=(task.max_retries or 0) + 1,
        hard_limit_seconds=task.time_limit or 0,
        max_delay_seconds=getattr(task, "retry_backoff_max", 0),
    )


def published_facts(row: OutboxMessage, consumer: str, snapshot: Snapshot) -> Published:
    """Return what the outbox says."""
    return Published(
        occurred_at=row.occurred_at,
        published_at=row.published_at,
        is_sent=row.is_sent_to(consumer),
        available_at=row.available_at,
        refusal=_refusal(row.last_error, consumer),
        ahead_count=snapshot.ahead.get(row.pk, 0),
    )


def _refusal(last_error: str, consumer: str) -> str:
    """Return what the relay noted for this consumer ("consumer: error; consumer: error")."""
    mine = f"{consumer}: "
    return next((part.removeprefix(mine) for part in last_error.split("; ") if part.startswith(mine)), "")


def processed_facts(row: ProcessedMessage | None) -> Processed | None:
    """Return what the inbox says."""
    return Processed(row.processed_at, row.duration_ms, row.worker) if row else None


def failed_facts(row: Attempt | None, snapshot: Snapshot) -> Failed | None:
    """Return what the last attempt says."""
    if row is None:
        return None
    return Failed(
        row.attempt,
        row.error_class,
        row.failed_at,
        row.due_at,
        row.sent_at,
        row.claimed_until,
        row.error_message,
        is_of_outside(row.error_class),
        snapshot.refusal_of(row) if row.sent_at is None else None,
    )


def _is_class(error_class: str, *wanted: type) -> bool:
    module, _dot, name = error_class.rpartition(".")
    found = getattr(sys.modules.get(module or "builtins"), name, None)
    return isinstance(found, type) and issubclass(found, wanted)


def dead_letter_facts(row: DeadLetter | None, snapshot: Snapshot) -> DeadLetterFacts | None:
    """Return what the dead letter says."""
    if row is None:
        return None
    return DeadLetterFacts(
        pk=row.pk,
        state=row.state,
        reason=row.reason,
        error_class=row.error_class,
        died_at=row.died_at,
        attempt_count=row.attempt_count,
        requested_at=row.requested_at,
        error_text=row.error_message,
        refusal=snapshot.refusal_of(row) if row.state == State.OPEN else None,
        is_permanent=_is_class(row.error_class, PermanentError),
    )


def held_facts(snapshot: Snapshot, consumer: str, event: str, key: str, message_id: UUID) -> Held | None:
    """Return which pause or open circuit holds it."""
    hold = snapshot.states.holds.on(consumer, event_name=event, key=key, message_id=message_id)
    cause = hold.cause if hold else None
    if isinstance(cause, Pause):
        words = [cause.consumer] if cause.consumer else [f"--event={cause.event_name}", f"--key={cause.key}"]
        return Held(cause.paused_at, by=cause.paused_by, why=cause.why, resume=shlex.join(words))
    if isinstance(cause, Circuit) and cause.opened_at:
        return Held(
            cause.opened_at,
            error_class=cause.error_class,
            next_probe_at=cause.next_probe_at,
            is_transient=is_of_outside(cause.error_class),
        )
    return None
