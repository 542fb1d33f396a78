"""What inventory tells the others: an order's stock is set aside, or it is not to be had."""

from uuid import UUID

from baton_messaging.events import Event


class StockReserved(Event, name="inventory.stock_reserved", version=1, key="order_id"):
    """All pieces of the order are set aside."""

    order_id: UUID


class StockRejected(Event, name="inventory.stock_rejected", version=1, key="order_id"):
    """Nothing is set aside, because the SKUs named here are short (or unknown). An outcome, not an error."""

    order_id: UUID
    skus: tuple[str, ...]
