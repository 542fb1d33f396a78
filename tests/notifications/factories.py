"""Orders as notifications sees them, answered through its port."""

from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from notifications.models import Kind
from notifications.orders import LineDetails, OrderDetails

ORDER_KINDS = (Kind.RECEIVED, Kind.CONFIRMED, Kind.REJECTED, Kind.CANCELLED, Kind.OVERDUE)
KNOWN: dict[UUID, OrderDetails] = {}


def an_order(**changes: Any) -> OrderDetails:
    """Make an order that ``details_of`` knows."""
    order = OrderDetails(
        order_id=uuid7(),
        reference="BA-1001",
        status="accepted",
        customer_name="Ada Lovelace",
        customer_email="ada@example.org",
        language="en",
        currency="EUR",
        total=Decimal("1234.50"),
        lines=(
            LineDetails("MUG", "Stoneware mug", 3, Decimal("12.50")),
            LineDetails("TEA", "Green tea", 1, Decimal("1197.00")),
        ),
        page_url="https://shop.example.com/orders/1/?token=t",
    )
    order = replace(order, **changes)
    KNOWN[order.order_id] = order
    return order


def details_of(order_id: UUID) -> OrderDetails:
    """What NOTIFICATIONS_ORDER_DETAILS names in these tests."""
    return KNOWN[order_id]
