"""What orders hears from the machinery."""

from typing import Any
from uuid import UUID

import structlog
from baton_messaging.signals import dead_lettered, dead_letters_settled
from django.dispatch import receiver

from orders.exports.services import fail_undelivered
from orders.models import Order

log = structlog.get_logger(__name__)


@receiver(dead_lettered, dispatch_uid="orders.flag_order_of_dead_letter")
def flag_order_of_dead_letter(*, key: str, consumer: str, **_kwargs: Any) -> None:
    """Mark the order that a dead letter belongs to. Other keys than order ids (exports) are none of our business.

    Only the flag changes: a status that is final stays final.
    """
    order_id = _uuid(key)
    if order_id and Order.objects.flag(order_id):
        log.warning("order_needs_attention", order_id=key, consumer=consumer)


@receiver(dead_letters_settled, dispatch_uid="orders.unflag_orders")
def unflag_orders(*, keys: set[str], **_kwargs: Any) -> None:
    """Take the mark back from orders of which no dead letter waits any more."""
    order_ids = [order_id for key in keys if (order_id := _uuid(key))]
    if order_ids and (count := Order.objects.unflag(order_ids)):
        log.info("orders_need_no_attention", order_count=count)


@receiver(dead_lettered, dispatch_uid="orders.fail_export_of_dead_letter")
def fail_export_of_dead_letter(*, key: str, consumer: str, **_kwargs: Any) -> None:
    """End an export that still waits, since the message that was to start it is dead."""
    export_id = _uuid(key)  # a forged message may have any key
    if consumer == "orders.build_export" and export_id:
        fail_undelivered(export_id, consumer=consumer)


def _uuid(key: str) -> UUID | None:
    try:
        return UUID(key)
    except ValueError:
        return None
