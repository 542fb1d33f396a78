"""Report rows that contradict the messages: for an app's ``findings.py``.

    @finds("orders that nobody was told of", queue="orders", remedy="Publish OrderPlaced for each, or delete it.")
    def orders_without_message(rows: Rows) -> Iterable[object]:
        placed = rows.select(Order.objects.all(), at="placed_at")
        return placed.filter(~was_published(OrderPlaced)).values_list("pk", flat=True)

*Shapes*. A check gets the ``Rows`` to look at, and returns the ids of those that contradict. Nothing is repaired: a
person reads it in ``manage.py reconcile``, doctor and triage, in the log and on the board. ``queue`` names the owner.

*Units*. The reconciler asks every minute about rows older than ``SETTLED_AFTER`` (5 minutes: everything has had its
time) and not older than ``LOOKED_AT_FOR`` more (10 minutes: a person can still act on it). Each row is so looked at
about ten times, and the price does not grow with the tables. With ``settled_after=timedelta(0)`` a check looks at what
is new, too: for rows that one transaction writes. The doctor asks about the last day. Triage asks about single keys,
whatever their age, and says "done, but" of the ``consumers`` that a check names: ``Rows.select`` does all of it.

*Raises*. A check that fails is logged (``check_failed``) and keeps no other from being run.

*Hazard*. The outbox keeps rows for ``OUTBOX_RETENTION_DAYS`` after they were sent: about what is older than that
``was_published`` says no. Of a single key triage may ask then; leave out what is older (``rows.keys`` tells).
"""

from typing import Final

from django.db.models import CharField, Exists, OuterRef, Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast

from baton_messaging.events import Event
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.recovery.findings import LOOKED_AT_FOR, MAX_EXAMPLES, SETTLED_AFTER, Rows, finds

#: Messages of one consumer that ``keys_processed`` looks at, the newest: a tenth of a second.
MAX_LOOKED_AT: Final = 20_000

__all__ = [
    "LOOKED_AT_FOR",
    "MAX_EXAMPLES",
    "SETTLED_AFTER",
    "Rows",
    "finds",
    "keys_processed",
    "was_published",
]


def was_published(event: type[Event], *, key: str = "pk") -> Exists:
    """Return the condition that the outbox has such an event about the row: ``filter(~was_published(OrderPlaced))``.

    Sent or not: what waits for the relay counts. ``key``: the row's field that the event has as its key.
    """
    messages = OutboxMessage.objects.filter(name=event.event_name, key=Cast(OuterRef(key), CharField()))
    return Exists(messages)


def keys_processed(consumer: str, rows: Rows, *, unless: Q | Combinable) -> list[str]:
    """Return the keys of the messages that a consumer processed, unless a row shows the effect.

    ``unless`` is a condition on ``OuterRef("key")``, which is text:
    ``Exists(Reservation.objects.filter(order_id=Cast(OuterRef("key"), UUIDField())))``. A message whose place an edited
    copy has taken was processed by nobody, and is left out.
    """
    processed = ProcessedMessage.objects.filter(consumer=consumer).exclude(worker__startswith="replaced by")
    messages = OutboxMessage.objects.all()
    if rows.keys is None:
        processed = processed.filter(processed_at__gte=rows.after, processed_at__lt=rows.before)
        processed = processed.order_by("-pk")[:MAX_LOOKED_AT]
    else:
        messages = messages.filter(key__in=rows.keys)
        processed = processed.filter(message_id__in=messages.values("message_id"))
    messages = messages.filter(message_id__in=processed.values("message_id")).filter(~unless)
    return list(messages.order_by("pk").values_list("key", flat=True))
