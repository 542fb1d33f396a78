"""What triage learns from orders: which ids are orders, what each still waits for, and which have not been settled."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final

from baton_messaging.extend.triage import MAX_CALLED, Subject, SubjectKind, register, uuids_in
from django.utils.translation import gettext_lazy as _

from orders.events import OrderPlaced
from orders.exports.triage import EXPORTS
from orders.models import Order
from orders.reference import called

_QUEUE = "orders"
# One of these settles an accepted order. They are the inventory's; orders.tasks consumes them.
_ANSWERS = ("inventory.stock_reserved", "inventory.stock_rejected")


def find_orders(keys: Collection[str]) -> dict[str, Subject]:
    """Return those of the keys that are orders."""
    return {str(order.pk): _subject(order) for order in Order.objects.filter(pk__any_of=uuids_in(keys))}


def orders_called(text: str) -> Iterable[str]:
    """Return the ids of the orders that people call so."""
    return [str(pk) for pk in called(Order.objects.order_by(), text).values_list("pk", flat=True)[:MAX_CALLED]]


def unsettled_orders(before: datetime, limit: int) -> Iterable[str]:
    """Return the ids of orders that are still only accepted, the oldest first."""
    found = Order.objects.accepted_before(before).values_list("pk", flat=True)
    return [str(pk) for pk in found[:limit]]


def _subject(order: Order) -> Subject:
    return Subject(
        kind="order",
        key=str(order.pk),
        queue=_QUEUE,
        first_event=OrderPlaced.event_name,
        created_at=order.placed_at,
        is_settled=order.is_final,
        status=order.get_status_display(),
        awaited=() if order.is_final else _ANSWERS,
    )


ORDERS: Final = SubjectKind(
    name="order",
    label=_("order"),
    first_event=OrderPlaced.event_name,
    queue=_QUEUE,
    find=find_orders,
    unsettled=unsettled_orders,
    called=orders_called,
)
register(ORDERS)
register(EXPORTS)
