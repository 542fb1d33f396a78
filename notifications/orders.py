"""The port to the orders: what a mail needs to know of an order, asked for at the moment of sending.

Personal data does not travel in events. The function named by ``settings.NOTIFICATIONS_ORDER_DETAILS`` is asked
instead, since apps do not import each other; what it returns has the attributes of OrderDetails.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string


@dataclass(frozen=True)
class LineDetails:
    """One line of an order; ``name`` is in the customer's language."""

    sku: str
    name: str
    quantity: int
    unit_price: Decimal


@dataclass(frozen=True)
class OrderDetails:
    """*Shape*: ``language`` en or ja; ``status`` accepted, confirmed, rejected or cancelled; money in ``currency``."""

    order_id: UUID
    reference: str
    status: str
    customer_name: str
    customer_email: str
    language: str
    currency: str
    total: Decimal
    lines: tuple[LineDetails, ...]
    page_url: str  # for the customer alone: it cancels the order, too


def order_details(order_id: UUID) -> OrderDetails:
    """Ask the app that has the orders. Raises what that app raises for an unknown id."""
    answer = cast("Callable[[UUID], OrderDetails]", import_string(settings.NOTIFICATIONS_ORDER_DETAILS))
    return answer(order_id)
