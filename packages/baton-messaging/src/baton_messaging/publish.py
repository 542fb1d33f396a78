"""Publishing writes events into the outbox, at once or when they are due: all that a producer has to do with messaging.

Invariant: an event is stored by the same commit as the change it tells of, or not at all (F03, F08). The broker is
not touched here, so it may be down (F17). What is due later is a row of its own until then (docs/future-messages.md).
"""

from datetime import datetime
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from baton_messaging.errors import NaiveTime, PublishOutsideTransaction
from baton_messaging.events import Event
from baton_messaging.messages.context import cause_of, current_correlation_id
from baton_messaging.messages.envelope import Envelope, checked_payload
from baton_messaging.messages.tracing import publishing
from baton_messaging.models import FutureMessage, OutboxMessage
from baton_messaging.models.future_message import FutureMessageQuerySet

__all__ = ["cancel", "cancel_all", "publish", "reschedule"]

log = structlog.get_logger(__name__)


def publish(*events: Event, at: datetime | None = None) -> list[UUID]:
    """Store the events in the outbox, in the caller's transaction and in one statement.

    ``at``, an aware datetime: they wait as rows of their own until then, and enter the outbox within
    RELAY_POLL_SECONDS of it. Until then ``cancel`` and ``reschedule`` are possible. A time in the past means at once,
    and a warning in the log says so.

    *Returns*. The message ids (UUIDv7), in the order of the events; an empty list when there are none.

    *Raises*. PublishOutsideTransaction where nothing ties the message to the change that it tells of. EventTooLarge for
    what no worker would take: an event holds ids and figures, and what is large is a row or a file. NaiveTime.

    *Invariant*. Inside a consumer the event carries the correlation of the message in flight, and names it as its
    cause; in a web request it carries the request's (``baton_messaging.middleware``).

    *Hazard*. Nothing is sent if the transaction rolls back; that is the point. A ``publish()`` in a transaction of its
    own, after the change was committed, is what gets lost when the process dies in between.
    """
    if not events:
        return []
    if not transaction.get_connection().in_atomic_block:
        raise PublishOutsideTransaction(events[0].event_name)
    occurred_at = timezone.now() if at is None else _aware(at)
    envelopes = [_envelope(event, occurred_at, message_id=uuid7()) for event in events]
    _store(envelopes, at=at)
    return [envelope.message_id for envelope in envelopes]


def publish_as(message_id: UUID, event: Event, *, at: datetime | None) -> None:
    """Publish one event under an id that its caller has told already: the backend of ``django.tasks``."""
    _store([_envelope(event, _aware(at) if at else timezone.now(), message_id=message_id)], at=at)


def cancel(message_id: UUID) -> bool:
    """Cancel a message that is not due yet; tell whether it was in time.

    False also for an id that is not known, and for one that was cancelled before: a repeat is safe. The row is kept,
    with when, and with what cancelled it: the message that is being processed, or the request.

    *Invariant*. The relay and this have one winner, in the database. Inside a transaction it is undone by a rollback,
    and the relay passes the message over until the commit: keep such transactions short.
    """
    return bool(_cancel(FutureMessage.objects.filter(message_id=message_id)))


def cancel_all(*events: type[Event], key: object) -> int:
    """Cancel all messages of these events about one aggregate that are not due yet; return how many were in time."""
    names = [event.event_name for event in events]
    return _cancel(FutureMessage.objects.filter(name__in=names, key=str(key)), key=str(key))


def reschedule(message_id: UUID, at: datetime) -> bool:
    """Let a message that is not due yet be due at another time; tell whether it was in time. Raises NaiveTime."""
    return bool(FutureMessage.objects.filter(message_id=message_id).move(_aware(at)))


def _cancel(messages: FutureMessageQuerySet, *, key: str = "") -> int:
    cause, correlation_id = cause_of(key), current_correlation_id()
    if cause:
        return messages.cancel(by=f"{cause.name} {cause.message_id}")
    return messages.cancel(by=f"correlation {correlation_id}" if correlation_id else "the application")


def _store(envelopes: list[Envelope], *, at: datetime | None) -> None:
    if at is None:
        OutboxMessage.objects.add(envelopes)
    else:
        FutureMessage.objects.add(envelopes)
        _warn_if_past(at, envelopes)


def _aware(at: datetime) -> datetime:
    if not isinstance(at, datetime) or timezone.is_naive(at):
        raise NaiveTime(at)
    return at


def _warn_if_past(at: datetime, envelopes: list[Envelope]) -> None:
    late_seconds = (timezone.now() - at).total_seconds()
    if late_seconds > 1:  # who says "now" means it
        log.warning(
            "due_in_the_past",
            event_name=envelopes[0].name,
            message_id=str(envelopes[0].message_id),
            message_count=len(envelopes),
            late_seconds=round(late_seconds, 1),
        )


def _envelope(event: Event, occurred_at: datetime, *, message_id: UUID) -> Envelope:
    cause = cause_of(event.key)
    return Envelope(
        message_id=message_id,
        name=event.event_name,
        version=event.event_version,
        key=event.key,
        payload=checked_payload(event.payload()),
        occurred_at=occurred_at,
        correlation_id=cause.correlation_id if cause else current_correlation_id() or message_id,
        causation_id=cause.message_id if cause else None,
        traceparent=publishing(event.event_name, cause=cause.traceparent if cause else ""),
    )
