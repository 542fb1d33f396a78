"""The answer of orders to a port of notifications (``NOTIFICATIONS_ORDER_DETAILS``): what a mail says about an order.

It is asked at the moment of sending, so that events carry no personal data and a mail never tells stale things.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from orders.errors import OrderNotFound
from orders.models import Order
from orders.placer import token_of


class DetailLine(NamedTuple):
    """One product of the order, its name in the customer's language, at the price of then."""

    sku: str
    name: str
    quantity: int
    unit_price: Decimal


@dataclass(frozen=True, slots=True)
class OrderDetails:
    """An order as its customer knows it."""

    order_id: UUID
    reference: str
    status: str
    customer_name: str
    customer_email: str
    language: str
    currency: str
    total: Decimal
    lines: tuple[DetailLine, ...]
    page_url: str

    def __repr__(self) -> str:
        return f"<OrderDetails {self.order_id}>"  # the generated one would put personal data into logs and tracebacks


def order_details(order_id: UUID) -> OrderDetails:
    """Look an order up, in two queries. Raises OrderNotFound, which is permanent."""
    order = Order.objects.filter(pk=order_id).first()
    if order is None:
        raise OrderNotFound(order_id)
    return OrderDetails(
        order_id=order.pk,
        reference=order.reference,
        status=order.status,
        customer_name=order.customer_name,
        customer_email=order.customer_email,
        language=order.language,
        currency=order.currency,
        total=order.total,
        page_url=f"{settings.PUBLIC_URL.rstrip('/')}{order.get_absolute_url()}?token={token_of(order.pk)}",
        lines=tuple(
            DetailLine(line.product.sku, line.product.name_in(order.language), line.quantity, line.unit_price)
            for line in order.lines.select_related("product")
        ),
    )
