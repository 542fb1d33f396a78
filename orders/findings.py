"""What must not be among orders, exports and sales, though every message counts as done.

``place_order`` writes order and message in one transaction, ``build_export`` names a file only when it is whole, and a
sale is counted in the transaction that marks its message as processed. So nothing is found, unless somebody wrote rows
past these: a script, an import, a restored table, a worker with another storage.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Final
from uuid import UUID

from baton_messaging.extend.findings import Rows, finds, keys_processed, was_published
from django.db.models import Exists, OuterRef, Q, Sum, UUIDField
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from orders.events import OrderPlaced
from orders.exports.files import storage
from orders.exports.models import Export
from orders.exports.states import ExportState
from orders.models import DailySales, Order, OrderStatus

MAX_FILES: Final = 100  # that are looked for at a time: each costs a storage's answer
MAX_RECORDED: Final = 5_000  # orders of a day, which are looked up one by one
RECORD_SALE: Final = "orders.record_sale"
ANSWERED: Final = {"orders.confirm_order": OrderStatus.CONFIRMED, "orders.reject_order": OrderStatus.REJECTED}
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
    _("exports that are ready, and whose file is not in this process's storage, or not whole"),
    queue=PLATFORM,
    consumers=["orders.build_export"],
    settled_after=timedelta(0),
    remedy=_(
        'Compare STORAGES["exports"] and BATON_STATE_DIR of the worker that wrote it with those of the web: both must '
        "see one folder or bucket. Then ask for the export again."
    ),
)
def exports_without_file(rows: Rows) -> Iterable[object]:
    """Return the exports that can be downloaded, as their rows say, and not, as the storage says."""
    ready = rows.select(Export.objects.filter(state=ExportState.READY), at="finished_at").order_by("-pk")
    files = storage()
    told = ready.values_list("pk", "file_name", "size_bytes")[:MAX_FILES]
    return [pk for pk, name, size in told if not files.exists(name) or files.size(name) != size]


@finds(
    _("orders of days whose sales figures do not agree with the orders"),
    queue="orders",
    consumers=[RECORD_SALE],
    settled_after=timedelta(0),
    remedy=_("Find out who changed the daily sales; count the day's orders again from the orders themselves."),
)
def orders_without_sale(rows: Rows) -> Iterable[object]:
    """Return the orders that ``record_sale`` has processed, and whose day has other figures."""
    is_gone = Q(~Exists(Order.objects.filter(pk=Cast(OuterRef("key"), UUIDField()))))
    orders = Order.objects.filter(pk__in=keys_processed(RECORD_SALE, rows, unless=is_gone))
    days: dict[date, list[UUID]] = defaultdict(list)
    for pk, placed_at in orders.order_by("pk").values_list("pk", "placed_at"):
        days[timezone.localdate(placed_at)].append(pk)
    return [pk for day, keys in days.items() if not _agrees(rows, day) for pk in keys]


def _agrees(rows: Rows, day: date) -> bool:
    """Tell whether at least as many are counted as were recorded, and at most as many as were placed.

    Asked in this order, so that what is placed and recorded meanwhile is no contradiction. Of a day with more than
    MAX_RECORDED orders only the second is asked, which is one range of the primary key.
    """
    start = timezone.make_aware(datetime.combine(day, time.min))
    of_day = Order.objects.filter(placed_at__gte=start, placed_at__lt=start + timedelta(days=1))
    placed = of_day.filter(pk__gte=_first_id(start - timedelta(hours=1)), pk__lt=_first_id(start + timedelta(hours=25)))
    some = [str(pk) for pk in placed.values_list("pk", flat=True)[: MAX_RECORDED + 1]]
    recorded = keys_processed(RECORD_SALE, replace(rows, keys=tuple(some)), unless=Q(key=""))
    counted = DailySales.objects.filter(day=day).aggregate(sum=Sum("order_count"))["sum"] or 0
    is_enough = len(some) > MAX_RECORDED or len(set(recorded)) <= counted
    return is_enough and counted <= placed.count()


@finds(
    _("orders whose status is not what the inventory answered, though its answer was processed"),
    queue="orders",
    consumers=ANSWERED,
    settled_after=timedelta(0),
    remedy=_("Find out who set their status; settle each as the inventory answered, and tell the customer."),
)
def orders_set_otherwise(rows: Rows) -> Iterable[object]:
    """Return the orders whose answer has been processed, and which say another. A cancelled one may have got any."""
    return [
        key for consumer in ANSWERED for key in keys_processed(consumer, rows, unless=Q(~_says_other_than(consumer)))
    ]


def _says_other_than(consumer: str) -> Exists:
    order = Order.objects.filter(pk=Cast(OuterRef("key"), UUIDField()))
    return Exists(order.exclude(status__in=(ANSWERED[consumer], OrderStatus.CANCELLED)))


def _first_id(at: datetime) -> UUID:
    """Return the smallest UUIDv7 of a time: ids grow with it, so the primary key answers for the last minutes."""
    return UUID(int=int(at.timestamp() * 1000) << 80)
