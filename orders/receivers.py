"""What orders hears from the machinery."""

from contextlib import suppress
from typing import Any
from uuid import UUID

import structlog
from django.dispatch import receiver

from messaging.signals import dead_lettered
from orders.exports.models import Export
from orders.exports.states import Failure
from orders.models import Order

log = structlog.get_logger(__name__)


@receiver(dead_lettered, dispatch_uid="orders.flag_order_of_dead_letter")
def flag_order_of_dead_letter(*, key: str, consumer: str, **_kwargs: Any) -> None:
    """Mark the order that a dead letter belongs to. Other keys than order ids (exports) are none of our business.

    Only the flag changes: a status that is final stays final.
    """
    try:
        order_id = UUID(key)
    except ValueError:
        return
    if Order.objects.flag(order_id):
        log.warning("order_needs_attention", order_id=key, consumer=consumer)


@receiver(dead_lettered, dispatch_uid="orders.fail_export_of_dead_letter")
def fail_export_of_dead_letter(*, key: str, consumer: str, **_kwargs: Any) -> None:
    """End an export that still waits, since the message that was to start it is dead.

    One that runs or has ended is left alone: its builder knows better.
    """
    if consumer != "orders.build_export":
        return
    with suppress(ValueError):  # a forged message may have any key
        if Export.objects.fail_waiting(UUID(key), Failure.UNDELIVERED):
            log.warning("export_failed", export_id=key, reason=Failure.UNDELIVERED.value)
