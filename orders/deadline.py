"""The deadline of an order: not confirmed in time, it is cancelled by itself.

It is a message in the future, stored with the order and cancelled by what settles it. Whether it comes in time does not
matter: its consumer changes an order only if that is still accepted.

*Units*: ``ORDERS["CONFIRM_WITHIN_SECONDS"]``; 0 means that orders wait for ever.
"""

from datetime import timedelta
from uuid import UUID

from baton_messaging.publish import cancel_all, publish
from django.conf import settings

from orders.events import ConfirmationOverdue
from orders.models import Order


def set_deadline(order: Order) -> None:
    """Say when the order is overdue. In the transaction that stores it."""
    allowed = timedelta(seconds=settings.ORDERS["CONFIRM_WITHIN_SECONDS"])
    if allowed:
        publish(ConfirmationOverdue(order_id=order.pk), at=order.placed_at + allowed)


def lift_deadline(order_id: UUID) -> None:
    """Forget it: the order is settled. In the transaction that settles it."""
    cancel_all(ConfirmationOverdue, key=order_id)
