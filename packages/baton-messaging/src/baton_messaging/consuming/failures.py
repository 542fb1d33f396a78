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
from django.utils import timezone

from baton_messaging.conf import baton
from baton_messaging.consuming.backoff import backoff_seconds
from baton_messaging.database.text import storable
from baton_messaging.dead_letters import bury
from baton_messaging.errors import UnknownEvent
from baton_messaging.flow_control import breaker
from baton_messaging.messages.envelope import Envelope
from baton_messaging.models import Attempt
from baton_messaging.models.dead_letter import Reason

if TYPE_CHECKING:
    from baton_messaging.consumer import ConsumerTask

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
        floor=baton().retry_floor_seconds,
    )
    return Retry(delay)


def record_failure(task: "ConsumerTask", envelope: Envelope, error: BaseException) -> None:
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
        bury(
            consumer=task.name,
            envelope=envelope,
            reason=decision.reason,
            error=description,
            attempt_count=attempt,
        )
        return
    delay = timedelta(seconds=decision.delay_seconds)
    _schedule(task.name, envelope, place=(round_, attempt), delay=delay, error=description)


def _is_transient(decision: Retry | Dead) -> bool:
    return isinstance(decision, Retry) or decision.reason == Reason.RETRIES_SPENT


@dataclass(frozen=True)
class ErrorDescription:
    """What is kept of an error: names and text, not the object, which may not even be picklable."""

    error_class: str
    message: str
    traceback: str
    fingerprint: str


def describe(error: BaseException) -> ErrorDescription:
    """Return class, message, traceback and a fingerprint: equal for the same fault at the same place in the code."""
    error_class = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    text = "".join(traceback.format_exception(error))
    return ErrorDescription(
        error_class=error_class,
        message=_text_of(error),
        traceback=storable(text[-MAX_TRACEBACK_CHARS:]),
        fingerprint=hashlib.sha256(f"{error_class}|{_place_of(error)}".encode()).hexdigest(),
    )


def fault(error_class: str, text: str, *, traceback: str = "") -> ErrorDescription:
    """Describe a death that no exception of ours tells of; equal for the same class."""
    return ErrorDescription(
        error_class=error_class,
        message=storable(text)[:1000],
        traceback=storable(traceback),
        fingerprint=hashlib.sha256(error_class.encode()).hexdigest(),
    )


def _place_of(error: BaseException) -> str:
    """Name the function that raised, by module and not by file: a release in another folder has the same faults."""
    frames = [frame for frame, _line in traceback.walk_tb(error.__traceback__)]
    return f"{frames[-1].f_globals.get('__name__')}:{frames[-1].f_code.co_name}" if frames else ""


def _text_of(error: BaseException) -> str:
    try:
        return storable(str(error))[:1000]
    except Exception:  # a broken __str__ must not hide the failure itself
        return "(the error has no readable text)"


def _latest(consumer: str, envelope: Envelope) -> tuple[int, int]:
    """Return the round and the number of the last attempt; each replay of a dead letter has begun a round."""
    attempts = Attempt.objects.filter(consumer=consumer, message_id=envelope.message_id)
    return attempts.order_by("-round", "-attempt").values_list("round", "attempt").first() or (0, 0)


def _schedule(
    consumer: str, envelope: Envelope, *, place: tuple[int, int], delay: timedelta, error: ErrorDescription
) -> None:
    round_, attempt = place
    failed = Attempt(
        message_id=envelope.message_id,
        consumer=consumer,
        round=round_,
        attempt=attempt,
        key=envelope.key,
        envelope=envelope.as_dict(),
        error_class=error.error_class,
        error_message=error.message,
        traceback=error.traceback,
        due_at=timezone.now() + delay,
    )
    # Two deliveries of one message that failed at the same time are one attempt, and get one retry.
    Attempt.objects.bulk_create([failed], ignore_conflicts=True)
    log.warning(
        "attempt_failed",
        consumer=consumer,
        message_id=str(envelope.message_id),
        correlation_id=str(envelope.correlation_id),
        attempt=attempt,
        error_class=error.error_class,
        retry_in_seconds=round(delay.total_seconds(), 1),
    )
