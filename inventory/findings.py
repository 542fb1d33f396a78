"""What the reconciler reports about inventory: orders whose message counts as processed and that have no reservation.

Inbox row and reservation are one commit, so there are none, unless somebody deleted reservations, or a release of
``reserve_stock`` returned without doing its work.
"""

from typing import Final

from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.recovery import Finding, finds
from baton_messaging.recovery.findings import LOOKED_AT_FOR, MAX_EXAMPLES, SETTLED_AFTER
from baton_messaging.routing.queues import queue_named
from django.db.models import Exists, OuterRef, UUIDField
from django.db.models.functions import Cast
from django.utils import timezone

from inventory.models import Reservation

CONSUMER: Final = "inventory.reserve_stock"
REMEDY: Final = "Find out who deleted the reservations, or which release wrote none; then reserve by hand or cancel."


@finds
def processed_without_reservation() -> Finding | None:
    """Return the recent orders that are marked as processed and have no reservation."""
    until = timezone.now() - SETTLED_AFTER
    processed = ProcessedMessage.objects.filter(
        consumer=CONSUMER, processed_at__gte=until - LOOKED_AT_FOR, processed_at__lt=until
    ).exclude(worker__startswith="replaced by")  # an edited copy has taken the message's place
    told = OutboxMessage.objects.filter(message_id__in=processed.values("message_id"))
    told = told.annotate(order_id=Cast("key", UUIDField()))
    empty = told.filter(~Exists(Reservation.objects.filter(order_id=OuterRef("order_id"))))
    keys = list(empty.order_by("pk").values_list("key", flat=True))
    if not keys:
        return None
    return Finding(
        what="orders processed without a reservation",
        count=len(keys),
        examples=tuple(keys[:MAX_EXAMPLES]),
        owner=str(queue_named("inventory").owner),
        remedy=REMEDY,
    )
