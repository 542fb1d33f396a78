"""Put a message on the list of dead letters, and tell the app whose row it was about."""

from typing import TYPE_CHECKING

import structlog
from django.utils import timezone

from messaging.envelope import Envelope
from messaging.models import Attempt, DeadLetter
from messaging.models.dead_letter import Reason
from messaging.owners import owner_of
from messaging.signals import dead_lettered

if TYPE_CHECKING:
    from messaging.failures import ErrorDescription

log = structlog.get_logger(__name__)


def bury(
    *,
    consumer: str,
    envelope: Envelope,
    reason: Reason,
    error: "ErrorDescription",
    attempt_count: int,
) -> None:
    """Write the dead letter of a message that could be read. Call inside a transaction.

    A second burial of the same message changes nothing: one row per consumer and message.
    """
    first = Attempt.objects.filter(consumer=consumer, message_id=envelope.message_id).order_by("attempt").first()
    letter = DeadLetter(
        message_id=envelope.message_id,
        consumer=consumer,
        event_name=envelope.name,
        key=envelope.key,
        owner=str(owner_of(consumer)),
        reason=reason,
        error_class=error.error_class,
        error_message=error.message,
        traceback=error.traceback,
        attempt_count=attempt_count,
        envelope=envelope.as_dict(),
        fingerprint=error.fingerprint,
        first_failed_at=first.failed_at if first else timezone.now(),
    )
    DeadLetter.objects.bulk_create([letter], ignore_conflicts=True)
    dead_lettered.send(sender=DeadLetter, key=envelope.key, consumer=consumer, message_id=envelope.message_id)
    log.error(
        "dead_lettered",
        consumer=consumer,
        message_id=str(envelope.message_id),
        reason=str(reason),
        error_class=error.error_class,
    )


def bury_unreadable(*, consumer: str, raw: str, reason: Reason, error: "ErrorDescription") -> None:
    """Write the dead letter of something that is no envelope of ours: kept as it came, told to no app."""
    DeadLetter.objects.create(
        consumer=consumer,
        owner=str(owner_of(consumer)),
        reason=reason,
        error_class=error.error_class,
        error_message=error.message,
        raw=raw.replace("\x00", "\\x00"),
        fingerprint=error.fingerprint,
    )
    log.error("dead_lettered", consumer=consumer, reason=str(reason), error_class=error.error_class)
