"""The consumers of inventory.

- ``reserve_stock`` on OrderPlaced sets stock aside and answers StockReserved or StockRejected. Repeating is safe: an
  order has one reservation, and a second message for it changes and publishes nothing.
- ``release_stock`` on OrderCancelled gives the stock back, or leaves a tombstone if the reservation has not come yet.
  Repeating is safe: only a reservation that still holds stock gives any back.

Both work set-at-a-time on a whole bundle, which also keeps their lock order. They talk to nothing but the database;
when it is away the message goes back to the broker and costs no attempt.
"""

from baton_messaging.consumer import consumer

from inventory import services
from inventory.allocation import Demand
from orders.events import OrderCancelled, OrderPlaced


# 500: a set of that size takes some tens of milliseconds, short enough for the stock rows it keeps locked.
@consumer(OrderPlaced, bundle=True, bundle_size=500, soft_time_limit=20, time_limit=30)
def reserve_stock(events: list[OrderPlaced]) -> None:
    """Set stock aside for the orders, or say what is short."""
    services.reserve(
        [Demand.of_lines(event.order_id, ((line.sku, line.quantity) for line in event.lines)) for event in events]
    )


@consumer(OrderCancelled, bundle=True, bundle_size=500, soft_time_limit=20, time_limit=30)
def release_stock(events: list[OrderCancelled]) -> None:
    """Give back the stock of the cancelled orders."""
    services.release({event.order_id for event in events})
