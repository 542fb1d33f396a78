"""What the reconciler reports about orders: those that nobody was told of.

``place_order`` writes order and message in one transaction, so there are none, unless somebody wrote orders past it: a
script, an import, a restored table.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from baton_messaging.extend import owner_of_queue
from baton_messaging.extend.findings import MAX_EXAMPLES, Finding, finds, was_published, window

from orders.events import OrderPlaced
from orders.models import Order

REMEDY: Final = "Find out who wrote them past place_order(); publish OrderPlaced for each, or delete it."


@finds
def orders_without_message() -> Finding | None:
    """Return the recent orders that have no message in the outbox."""
    after, before = window()
    placed = Order.objects.filter(pk__gte=_first_id(after), pk__lt=_first_id(before))
    ids = list(placed.filter(~was_published(OrderPlaced)).order_by("pk").values_list("pk", flat=True))
    if not ids:
        return None
    return Finding(
        what="orders that nobody was told of",
        count=len(ids),
        examples=tuple(str(order_id) for order_id in ids[:MAX_EXAMPLES]),
        owner=str(owner_of_queue("orders")),
        remedy=REMEDY,
    )


def _first_id(at: datetime) -> UUID:
    """Return the smallest UUIDv7 of a time: ids grow with it, so the primary key answers for the last minutes."""
    return UUID(int=int(at.timestamp() * 1000) << 80)
