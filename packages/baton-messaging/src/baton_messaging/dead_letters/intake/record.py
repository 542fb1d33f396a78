"""A dead letter is recorded, and the app whose row the message was about is told.

Invariant: one unsettled dead letter per consumer and message, and per thing that is no message. A message that dies
again while its replay was requested opens its dead letter again; recording an open one a second time changes nothing,
nor does the death of a copy when the inbox has the message. A copy that is still at work says nothing yet: what dies
does not wait for it.
"""

import hashlib
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.db import transaction
from django.utils import timezone

from baton_messaging.database.errors import is_passing, was_cancelled
from baton_messaging.database.text import storable
from baton_messaging.messages.envelope import Envelope
from baton_messaging.messages.error_description import ErrorDescription
from baton_messaging.models import Attempt, DeadLetter, ProcessedMessage
from baton_messaging.models.dead_letter import COLLECTOR, Reason
from baton_messaging.routing.ownership import owner_at, owner_of
from baton_messaging.signals import dead_lettered

log = structlog.get_logger(__name__)


def record_dead_letter(
    *,
    consumer: str,
    envelope: Envelope,
    reason: Reason,
    error: ErrorDescription,
    attempt_count: int,
    task_id: str = "",
    queue: str = "",
) -> None:
    """Write the dead letter of a message that could be read, unless it was applied. Call inside a transaction."""
    if ProcessedMessage.objects.filter(message_id=envelope.message_id, consumer=consumer).exists():
        log.info("applied_by_another_copy", consumer=consumer, message_id=str(envelope.message_id), reason=str(reason))
        return
    death = {**_death(consumer, reason, error, attempt_count), "task_id": task_id}
    dead_letters = DeadLetter.objects.filter(message_id=envelope.message_id, consumer=consumer)
    if not dead_letters.reopen(**death):
        _insert(consumer, envelope, {**death, "owner": str(owner_at(consumer, queue))})
    tell(key=envelope.key, consumer=consumer, message_id=envelope.message_id)
    log.error(
        "dead_lettered",
        consumer=consumer,
        message_id=str(envelope.message_id),
        correlation_id=str(envelope.correlation_id),
        reason=str(reason),
        error_class=error.error_class,
    )


def claim_identity(identity: UUID) -> bool:
    """Tell whether a thing without a message id is to be recorded now, or was at an earlier delivery.

    Call inside the transaction that records it.
    """
    worker = socket.gethostname()[:200]
    return bool(ProcessedMessage.objects.claim(consumer=COLLECTOR, message_ids=[identity], worker=worker))


@dataclass(frozen=True)
class RowIdentity:
    """What a row of ours says of a message that cannot be read."""

    message_id: UUID
    event_name: str
    key: str


def record_unreadable(
    *,
    consumer: str,
    raw: str,
    reason: Reason,
    error: ErrorDescription,
    identity: UUID,
    task_id: str = "",
    attempt_count: int = 0,
    queue: str = "",
) -> None:
    """Write the dead letter of something that is no envelope of ours: kept as it came, told to no app.

    ``queue``: where it died; of a consumer that is not known here, its owner answers for it. While that stands on the
    list unsettled, the same thing, by its ``identity``, is only counted when it comes again.
    """
    if DeadLetter.objects.count_again(identity):
        log.info("dead_letter_came_again", consumer=consumer, identity=str(identity), reason=str(reason))
        return
    death = _death(consumer, reason, error, attempt_count)
    dead_letter = DeadLetter(
        consumer=consumer,
        owner=str(owner_at(consumer, queue)),
        identity=identity,
        task_id=task_id,
        raw=storable(raw),
        **death,
    )
    DeadLetter.objects.bulk_create([dead_letter], ignore_conflicts=True)
    log.error("dead_lettered", consumer=consumer, reason=str(reason), error_class=error.error_class)


def record_unreadable_row(
    message: RowIdentity, *, consumer: str, raw: str, error: ErrorDescription, attempt_count: int = 0
) -> None:
    """Write the dead letter of a row of ours that cannot be read; the app whose it is is told. In a transaction."""
    death = {**_death(consumer, Reason.UNDECODABLE, error, attempt_count), "raw": storable(raw)}
    if not DeadLetter.objects.filter(message_id=message.message_id, consumer=consumer).reopen(**death):
        dead_letter = DeadLetter(
            message_id=message.message_id,
            event_name=message.event_name,
            key=message.key,
            consumer=consumer,
            owner=str(owner_of(consumer)),
            **death,
        )
        DeadLetter.objects.bulk_create([dead_letter], ignore_conflicts=True)
    tell(key=message.key, consumer=consumer, message_id=message.message_id)
    log.error("dead_lettered", consumer=consumer, reason=str(Reason.UNDECODABLE), error_class=error.error_class)


def _death(consumer: str, reason: Reason, error: ErrorDescription, attempt_count: int) -> dict[str, str | int]:
    return {
        "reason": reason,
        "error_class": error.error_class,
        "error_message": error.message,
        "traceback": error.traceback,
        "attempt_count": attempt_count,
        "fingerprint": group_of(consumer, reason, error.fingerprint),
    }


def identity_of(consumer: str, text: str) -> UUID:
    """Return an id for what has none: the same for the same text and consumer, whatever message brings it."""
    digest = hashlib.sha256(f"{consumer}\x00{text}".encode("utf-8", "surrogatepass")).digest()
    return UUID(bytes=digest[:16])


def group_of(consumer: str, reason: Reason | str, fingerprint: str) -> str:
    """Return what a dead letter is grouped by: the same fault of the same consumer, so a group has one owner."""
    return hashlib.sha256(f"{consumer}|{reason}|{fingerprint}".encode()).hexdigest()


def tell(*, key: str, consumer: str, message_id: UUID) -> None:
    """Send the signal; a receiver that fails is logged, and costs neither this dead letter nor the others."""
    try:
        with transaction.atomic():
            dead_lettered.send(sender=DeadLetter, key=key, consumer=consumer, message_id=message_id)
    except SoftTimeLimitExceeded:  # the bundle's time is up, wherever it was: no fault of the receiver
        raise
    except Exception as error:
        if is_passing(error) and not was_cancelled(error):  # a query of its own that is too slow always is
            raise
        log.exception("receiver_failed", signal="dead_lettered", consumer=consumer, message_id=str(message_id))


def _insert(consumer: str, envelope: Envelope, death: Mapping[str, object]) -> None:
    attempts = Attempt.objects.filter(consumer=consumer, message_id=envelope.message_id, attempt__gte=1)
    first = attempts.order_by("round", "attempt").first()
    dead_letter = DeadLetter(
        message_id=envelope.message_id,
        consumer=consumer,
        event_name=envelope.name,
        key=envelope.key,
        envelope=envelope.as_dict(),
        occurred_at=envelope.occurred_at,
        first_failed_at=first.failed_at if first else timezone.now(),
        **death,
    )
    DeadLetter.objects.bulk_create([dead_letter], ignore_conflicts=True)
