"""The consumers of orders: they settle orders by what the inventory says and keep the sales figures.

Repeating is safe: settling is an UPDATE that demands the state it leaves, and each increment shares its transaction
with the inbox row that admits a message once. Nothing outside the database is touched, so only its outage matters.
"""

from inventory.events import StockRejected, StockReserved
from messaging.consumer import consumer
from orders import services
from orders.events import OrderCancelled, OrderPlaced


@consumer(OrderPlaced, bundle=True, bundle_size=500)  # one statement whatever the number, so let bundles be large
def record_sale(events: list[OrderPlaced]) -> None:
    """Add the orders to their days' figures."""
    services.record_sales(events)


@consumer(OrderCancelled)
def record_cancellation(event: OrderCancelled) -> None:
    """Take the order back from its day's figures."""
    services.record_cancellation(event)


@consumer(StockReserved)
def confirm_order(event: StockReserved) -> None:
    """Settle the order: there is stock."""
    services.confirm_order(event.order_id)


@consumer(StockRejected)
def reject_order(event: StockRejected) -> None:
    """Settle the order: there is not enough stock."""
    services.reject_order(event.order_id)
