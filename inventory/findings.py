"""What the reconciler reports about inventory: orders whose message counts as processed and that have no reservation.

Inbox row and reservation are one commit, so there are none, unless somebody deleted reservations, or a release of
``reserve_stock`` returned without doing its work.
"""

from typing import Final

from baton_messaging.extend import owner_of_queue
from baton_messaging.extend.findings import MAX_EXAMPLES, Finding, finds, keys_processed, window
from django.db.models import Exists, OuterRef, UUIDField
from django.db.models.functions import Cast

from inventory.models import Reservation

CONSUMER: Final = "inventory.reserve_stock"
REMEDY: Final = "Find out who deleted the reservations, or which release wrote none; then reserve by hand or cancel."


@finds
def processed_without_reservation() -> Finding | None:
    """Return the recent orders that are marked as processed and have no reservation."""
    after, before = window()
    reserved = Exists(Reservation.objects.filter(order_id=Cast(OuterRef("key"), UUIDField())))
    keys = keys_processed(CONSUMER, after=after, before=before, unless=reserved)
    if not keys:
        return None
    return Finding(
        what="orders processed without a reservation",
        count=len(keys),
        examples=tuple(keys[:MAX_EXAMPLES]),
        owner=str(owner_of_queue("inventory")),
        remedy=REMEDY,
    )
