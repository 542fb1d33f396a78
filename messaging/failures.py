"""What becomes of a failed message: another attempt later, or the list of dead letters.

One decision (``classify``), one write (``record_failure``). The message's inbox row is never written together with a
failure, so a later attempt is not mistaken for a repeat.
"""

import hashlib
import traceback
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db.models import Max
from django.utils import timezone

from messaging.backoff import backoff_seconds
from messaging.dead_letters import bury
from messaging.envelope import Envelope
from messaging.errors import UnknownEvent
from messaging.models import Attempt
from messaging.models.dead_letter import Reason

if TYPE_CHECKING:
    from messaging.consumer import ConsumerTask

log = structlog.get_logger(__name__)

MAX_TRACEBACK_CHARS = 20_000  # a recursion error's traceback would fill a page of the desk otherwise


@dataclass(frozen=True)
class Retry:
    """Try again after ``delay_seconds``."""

    delay_seconds: float


@dataclass(frozen=True)
class Dead:
    """Do not try again; ``reason`` says why."""

    reason: Reason


def classify(error: BaseException, *, task: "ConsumerTask", attempt: int) -> Retry | Dead:
    """Decide what becomes of a message whose ``attempt`` (1-based) raised ``error``.

    Only the classes in ``autoretry_for`` are retried, ``max_retries`` times; the time limit and all else die at once
    (F20): a listed class of ``dont_autoretry_for`` wins over ``autoretry_for``.
    """
    if isinstance(error, SoftTimeLimitExceeded):
        return Dead(Reason.TIME_LIMIT)
    if isinstance(error, UnknownEvent):
        return Dead(Reason.UNKNOWN_EVENT)
    if not isinstance(error, tuple(task.autoretry_for)) or isinstance(error, tuple(task.dont_autoretry_for)):
        return Dead(Reason.PERMANENT_ERROR)
    if attempt > task.max_retries:
        return Dead(Reason.RETRIES_SPENT)
    delay = backoff_seconds(
        attempt=attempt,
        factor=float(task.retry_backoff),
        ceiling=task.retry_backoff_max,
        jitter=task.retry_jitter,
        floor=settings.MESSAGING["RETRY_FLOOR_SECONDS"],
    )
    return Retry(delay)


def record_failure(task: "ConsumerTask", envelope: Envelope, error: BaseException) -> None:
    """Write the failed attempt, and what follows from it. Call inside a transaction."""
    attempt = _last_attempt(task.name, envelope) + 1
    decision = classify(error, task=task, attempt=attempt)
    description = describe(error)
    if isinstance(decision, Dead):
        bury(
            consumer=task.name,
            envelope=envelope,
            reason=decision.reason,
            error=description,
            attempt_count=attempt,
        )
        return
    _schedule(task.name, envelope, attempt=attempt, delay_seconds=decision.delay_seconds, error=description)


@dataclass(frozen=True)
class ErrorDescription:
    """What is kept of an error: names and text, not the object, which may not even be picklable."""

    error_class: str
    message: str
    traceback: str
    fingerprint: str


def describe(error: BaseException) -> ErrorDescription:
    """Return class, message, traceback and a fingerprint: equal for the same fault at the same place in the code."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].name}" if frames else ""
    error_class = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    text = "".join(traceback.format_exception(error))
    return ErrorDescription(
        error_class=error_class,
        message=_text_of(error),
        traceback=_storable(text[-MAX_TRACEBACK_CHARS:]),
        fingerprint=hashlib.sha256(f"{error_class}|{place}".encode()).hexdigest(),
    )


def _text_of(error: BaseException) -> str:
    try:
        return _storable(str(error))[:1000]
    except Exception:  # a broken __str__ must not hide the failure itself
        return "(the error has no readable text)"


def _storable(text: str) -> str:
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def _last_attempt(consumer: str, envelope: Envelope) -> int:
    attempts = Attempt.objects.filter(consumer=consumer, message_id=envelope.message_id)
    return attempts.aggregate(last=Max("attempt"))["last"] or 0


def _schedule(
    consumer: str, envelope: Envelope, *, attempt: int, delay_seconds: float, error: ErrorDescription
) -> None:
    Attempt.objects.bulk_create(
        [
            Attempt(
                message_id=envelope.message_id,
                consumer=consumer,
                attempt=attempt,
                key=envelope.key,
                envelope=envelope.as_dict(),
                error_class=error.error_class,
                error_message=error.message,
                traceback=error.traceback,
                due_at=timezone.now() + timedelta(seconds=delay_seconds),
            )
        ],
        ignore_conflicts=True,  # two deliveries of one message failed at the same time: one attempt, one retry
    )
    log.warning(
        "attempt_failed",
        consumer=consumer,
        message_id=str(envelope.message_id),
        attempt=attempt,
        error_class=error.error_class,
        retry_in_seconds=round(delay_seconds, 1),
    )
