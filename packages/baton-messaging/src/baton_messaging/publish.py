"""Publishing writes events into the outbox: all that a producer has to do with messaging.

Invariant: an event is stored by the same commit as the change it tells of, or not at all (F03, F08). The broker is
not touched here, so it may be down (F17).
"""

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from baton_messaging.errors import PublishOutsideTransaction
from baton_messaging.events import Event
from baton_messaging.messages.context import cause_of, current_correlation_id
from baton_messaging.messages.envelope import Envelope, checked_payload
from baton_messaging.messages.tracing import publishing
from baton_messaging.models import OutboxMessage

__all__ = ["publish"]


def publish(*events: Event) -> list[UUID]:
    """Store the events in the outbox, in the caller's transaction and in one statement.

    *Returns*. The message ids (UUIDv7), in the order of the events; an empty list when there are none.

    *Raises*. PublishOutsideTransaction where nothing ties the message to the change that it tells of. EventTooLarge for
    what no worker would take: an event holds ids and figures, and what is large is a row or a file.

    *Invariant*. Inside a consumer the event carries the correlation of the message in flight, and names it as its
    cause; in a web request it carries the request's (``baton_messaging.middleware``).

    *Hazard*. Nothing is sent if the transaction rolls back; that is the point. A ``publish()`` in a transaction of its
    own, after the change was committed, is what gets lost when the process dies in between.
    """
    if not events:
        return []
    if not transaction.get_connection().in_atomic_block:
        raise PublishOutsideTransaction(events[0].event_name)
    envelopes = [_envelope(event) for event in events]
    OutboxMessage.objects.add(envelopes)
    return [envelope.message_id for envelope in envelopes]


def _envelope(event: Event) -> Envelope:
    message_id = uuid7()
    cause = cause_of(event.key)
    return Envelope(
        message_id=message_id,
        name=event.event_name,
        version=event.event_version,
        key=event.key,
        payload=checked_payload(event.payload()),
        occurred_at=timezone.now(),
        correlation_id=cause.correlation_id if cause else current_correlation_id() or message_id,
        causation_id=cause.message_id if cause else None,
        traceparent=publishing(event.event_name, cause=cause.traceparent if cause else ""),
    )
