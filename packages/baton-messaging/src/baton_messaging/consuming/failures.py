"""A failed message gets another attempt later, or becomes a dead letter.

One decision (``classify``), one write (``record_failure``). The message's inbox row is never written together with a
failure, so a later attempt is not mistaken for a repeat.
"""

from dataclasses import dataclass
from datetime import timedelta

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from baton_messaging.conf import baton
from baton_messaging.consuming.task import Task
from baton_messaging.database.errors import is_short_of
from baton_messaging.dead_letters import record_dead_letter
from baton_messaging.errors import UnknownEvent
from baton_messaging.flow_control import breaker
from baton_messaging.messages.envelope import Envelope
from baton_messaging.messages.error_description import ErrorDescription, describe
from baton_messaging.models import Attempt
from baton_messaging.models.dead_letter import Reason
from baton_messaging.processes.backoff import backoff_seconds

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Retry:
    """Try again after ``delay_seconds``."""

    delay_seconds: float


@dataclass(frozen=True)
class Dead:
    """Do not try again; ``reason`` says why."""

    reason: Reason


def classify(error: BaseException, *, task: Task, attempt: int) -> Retry | Dead:
    """Decide what becomes of a message whose ``attempt`` (1-based) raised ``error``.

    Only the classes in ``autoretry_for`` are retried, ``max_retries`` times, and what the database was short of; the
    time limit and all else die at once (F20): a listed class of ``dont_autoretry_for`` wins over ``autoretry_for``.
    """
    if isinstance(error, SoftTimeLimitExceeded):
        return Dead(Reason.TIME_LIMIT)
    if isinstance(error, UnknownEvent):
        return Dead(Reason.UNKNOWN_EVENT)
    is_retried = isinstance(error, tuple(task.autoretry_for)) or is_short_of(error)
    if not is_retried or isinstance(error, tuple(task.dont_autoretry_for)):
        return Dead(Reason.PERMANENT_ERROR)
    if attempt > task.max_retries:
        return Dead(Reason.RETRIES_SPENT)
    delay = backoff_seconds(
        attempt,
        base=float(task.retry_backoff),
        maximum=task.retry_backoff_max,
        floor=baton().retry_floor_seconds,
        jitter=task.retry_jitter,
    )
    return Retry(delay)


def record_failure(task: Task, envelope: Envelope, error: BaseException) -> None:
    """Write the failed attempt, and what follows from it; nothing while the circuit is open. Call in a transaction."""
    round_, last_attempt = _latest(task.name, envelope)
    attempt = last_attempt + 1
    decision = classify(error, task=task, attempt=attempt)
    description = describe(error)
    if _is_transient(decision):
        if breaker.absorb(task.name, envelope, error_class=description.error_class):
            return
        breaker.note_transient_failure(task.name, error_class=description.error_class)
    if isinstance(decision, Dead):
        record_dead_letter(
            consumer=task.name,
            envelope=envelope,
            reason=decision.reason,
            error=description,
            attempt_count=attempt,
        )
        return
    delay = timedelta(seconds=decision.delay_seconds)
    _schedule(task, envelope, place=(round_, attempt), delay=delay, error=description)


def _is_transient(decision: Retry | Dead) -> bool:
    return isinstance(decision, Retry) or decision.reason == Reason.RETRIES_SPENT


def _latest(consumer: str, envelope: Envelope) -> tuple[int, int]:
    """Return the round and the number of the last attempt; each replay of a dead letter has begun a round."""
    attempts = Attempt.objects.filter(consumer=consumer, message_id=envelope.message_id)
    return attempts.order_by("-round", "-attempt").values_list("round", "attempt").first() or (0, 0)


def _schedule(
    task: Task, envelope: Envelope, *, place: tuple[int, int], delay: timedelta, error: ErrorDescription
) -> None:
    round_, attempt = place
    failed = Attempt(
        message_id=envelope.message_id,
        consumer=task.name,
        round=round_,
        attempt=attempt,
        key=envelope.key,
        envelope=envelope.as_dict(),
        error_class=error.error_class,
        error_message=error.message,
        traceback=error.traceback,
        worker=task.request.hostname or "",
        due_at=timezone.now() + delay,
    )
    # Two deliveries of one message that failed at the same time are one attempt, and get one retry.
    Attempt.objects.bulk_create([failed], ignore_conflicts=True)
    log.warning(
        "attempt_failed",
        consumer=task.name,
        message_id=str(envelope.message_id),
        correlation_id=str(envelope.correlation_id),
        attempt=attempt,
        error_class=error.error_class,
        retry_in_seconds=round(delay.total_seconds(), 1),
    )
