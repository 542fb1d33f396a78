"""Report rows that contradict the messages: for an app's ``findings.py``. The reconciler asks every minute.

    @finds
    def orders_without_message() -> Finding | None:
        after, before = window()
        orders = Order.objects.filter(placed_at__gte=after, placed_at__lt=before)
        untold = orders.filter(~was_published(OrderPlaced))
        …

*Shapes*. A check takes no arguments and returns a ``Finding`` (what, count, up to ``MAX_EXAMPLES`` ids, owner, remedy)
or None. Nothing is repaired: a person reads it in ``manage.py reconcile``, in the log and on the board.

*Units*. ``window()``: rows older than ``SETTLED_AFTER`` (5 minutes: everything has had its time) and not older than
``LOOKED_AT_FOR`` more (10 minutes: somebody can still act on it). Each row is so looked at about ten times, and the
price does not grow with the tables.

*Raises*. A check that fails is logged (``check_failed``) and keeps no other from being run.

*Hazard*. The outbox keeps rows for ``OUTBOX_RETENTION_DAYS`` after they were sent: about what is older than that
``was_published`` says no. Within the window that cannot be.
"""

from datetime import datetime

from django.db.models import CharField, Exists, OuterRef, Q
from django.db.models.functions import Cast
from django.utils import timezone

from baton_messaging.events import Event
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.recovery.findings import LOOKED_AT_FOR, MAX_EXAMPLES, SETTLED_AFTER, Finding, finds

__all__ = [
    "LOOKED_AT_FOR",
    "MAX_EXAMPLES",
    "SETTLED_AFTER",
    "Finding",
    "finds",
    "keys_processed",
    "was_published",
    "window",
]


def window() -> tuple[datetime, datetime]:
    """Return the time that a check looks at: from (inclusive) and until (exclusive), aware."""
    until = timezone.now() - SETTLED_AFTER
    return until - LOOKED_AT_FOR, until


def was_published(event: type[Event], *, key: str = "pk") -> Exists:
    """Return the condition that the outbox has such an event about the row: ``filter(~was_published(OrderPlaced))``.

    Sent or not: what waits for the relay counts. ``key``: the row's field that the event has as its key.
    """
    messages = OutboxMessage.objects.filter(name=event.event_name, key=Cast(OuterRef(key), CharField()))
    return Exists(messages)


def keys_processed(consumer: str, *, after: datetime, before: datetime, unless: Q | Exists) -> list[str]:
    """Return the keys of the messages that a consumer processed in that time, unless a row shows the effect.

    ``unless`` is a condition on ``OuterRef("key")``, which is text:
    ``Exists(Reservation.objects.filter(order_id=Cast(OuterRef("key"), UUIDField())))``. A message whose place an edited
    copy has taken was processed by nobody, and is left out.
    """
    processed = ProcessedMessage.objects.filter(
        consumer=consumer, processed_at__gte=after, processed_at__lt=before
    ).exclude(worker__startswith="replaced by")
    messages = OutboxMessage.objects.filter(~unless, message_id__in=processed.values("message_id"))
    return list(messages.order_by("pk").values_list("key", flat=True))
