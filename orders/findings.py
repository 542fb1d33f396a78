"""What the reconciler reports about orders: those that nobody was told of.

``place_order`` writes order and message in one transaction, so there are none, unless somebody wrote orders past it: a
script, an import, a restored table.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from baton_messaging.models import OutboxMessage
from baton_messaging.recovery import Finding, finds
from baton_messaging.recovery.findings import LOOKED_AT_FOR, MAX_EXAMPLES, SETTLED_AFTER
from baton_messaging.routing.queues import queue_named
from django.db.models import CharField, Exists, OuterRef
from django.db.models.functions import Cast
from django.utils import timezone

from orders.events import OrderPlaced
from orders.models import Order

REMEDY: Final = "Find out who wrote them past place_order(); publish OrderPlaced for each, or delete it."


@finds
def orders_without_message() -> Finding | None:
    """Return the recent orders that have no message in the outbox."""
    until = timezone.now() - SETTLED_AFTER
    told = OutboxMessage.objects.filter(name=OrderPlaced.event_name, key=Cast(OuterRef("pk"), CharField()))
    placed = Order.objects.filter(pk__gte=_first_id(until - LOOKED_AT_FOR), pk__lt=_first_id(until))
    ids = list(placed.filter(~Exists(told)).order_by("pk").values_list("pk", flat=True))
    if not ids:
        return None
    return Finding(
        what="orders that nobody was told of",
        count=len(ids),
        examples=tuple(str(order_id) for order_id in ids[:MAX_EXAMPLES]),
        owner=str(queue_named("orders").owner),
        remedy=REMEDY,
    )


def _first_id(at: datetime) -> UUID:
    """Return the smallest UUIDv7 of a time: ids grow with it, so the primary key answers for the last minutes."""
    return UUID(int=int(at.timestamp() * 1000) << 80)
