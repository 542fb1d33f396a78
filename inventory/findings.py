"""What must not be in inventory: orders whose message counts as processed and that have no reservation.

Inbox row and reservation are one commit, so there are none, unless somebody deleted reservations, or a release of
``reserve_stock`` returned without doing its work.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from baton_messaging.extend.findings import Rows, finds, keys_processed
from django.db.models import Exists, OuterRef, UUIDField
from django.db.models.functions import Cast
from django.utils.translation import gettext_lazy as _

from inventory.models import Reservation

CONSUMER: Final = "inventory.reserve_stock"


@finds(
    _("orders processed without a reservation"),
    queue="inventory",
    consumers=[CONSUMER],
    settled_after=timedelta(0),
    remedy=_(
        "Find out who deleted the reservations, or which release wrote none; then reserve by hand or cancel the order."
    ),
)
def processed_without_reservation(rows: Rows) -> Iterable[object]:
    """Return the orders that are marked as processed and have no reservation."""
    reserved = Exists(Reservation.objects.filter(order_id=Cast(OuterRef("key"), UUIDField())))
    return keys_processed(CONSUMER, rows, unless=reserved)
