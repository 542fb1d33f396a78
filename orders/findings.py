"""What must not be among orders, exports and sales, though every message counts as done.

``place_order`` writes order and message in one transaction, ``build_export`` names a file only when it is whole, and a
sale is counted in the transaction that marks its message as processed. So nothing is found, unless somebody wrote rows
past these: a script, an import, a restored table, a worker with another storage.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from baton_messaging.extend.findings import Rows, finds, keys_processed, was_published
from django.db.models import Exists, OuterRef, Q, UUIDField
from django.db.models.functions import Cast, TruncDate
from django.utils.translation import gettext_lazy as _

from orders.events import OrderPlaced
from orders.exports.files import storage
from orders.exports.models import Export
from orders.exports.states import ExportState
from orders.models import DailySales, Order, OrderStatus

PLATFORM: Final = "baton"  # its owner answers for storages, as for all that processes share


@finds(
    _("orders that nobody was told of"),
    queue="orders",
    remedy=_("Find out who wrote them past place_order(); publish OrderPlaced for each, or delete it."),
)
def orders_without_message(rows: Rows) -> Iterable[object]:
    """Return the orders that have no message in the outbox. Of old ones only those not settled: it forgets what is."""
    placed = Order.objects.all() if rows.keys is None else Order.objects.filter(status=OrderStatus.ACCEPTED)
    untold = rows.select(placed, at="pk", bound=_first_id).filter(~was_published(OrderPlaced))
    return untold.order_by("pk").values_list("pk", flat=True)


@finds(
    _("exports that are ready, and whose file is not in this process's storage"),
    queue=PLATFORM,
    remedy=_(
        'Compare STORAGES["exports"] and BATON_STATE_DIR of the worker that wrote it with those of the web: both must '
        "see one folder or bucket. Then ask for the export again."
    ),
)
def exports_without_file(rows: Rows) -> Iterable[object]:
    """Return the exports that can be downloaded, as their rows say, and not, as the storage says."""
    ready = rows.select(Export.objects.filter(state=ExportState.READY), at="finished_at")
    files = storage()
    return [pk for pk, name in ready.values_list("pk", "file_name") if not files.exists(name)]


@finds(
    _("orders whose sale is not counted in the figures of its day"),
    queue="orders",
    remedy=_("Find out who changed the daily sales; count the day's orders again from the orders themselves."),
)
def orders_without_sale(rows: Rows) -> Iterable[object]:
    """Return the orders that ``record_sale`` has processed, and whose day has no figures."""
    counted = DailySales.objects.filter(order_count__gt=0).values("day")
    uncounted = Order.objects.annotate(day=TruncDate("placed_at")).exclude(day__in=counted)
    return keys_processed(
        "orders.record_sale",
        rows,
        unless=Q(~Exists(uncounted.filter(pk=Cast(OuterRef("key"), UUIDField())))),
    )


def _first_id(at: datetime) -> UUID:
    """Return the smallest UUIDv7 of a time: ids grow with it, so the primary key answers for the last minutes."""
    return UUID(int=int(at.timestamp() * 1000) << 80)
