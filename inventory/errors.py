"""What can go wrong for good in inventory. "Out of stock" is not here: it is an outcome, published as an event."""

from uuid import UUID

from baton_messaging.errors import PermanentError


class InvalidQuantity(PermanentError):
    """Say which order asked for less than one piece of something."""

    def __init__(self, order_id: UUID, sku: str, quantity: int) -> None:
        super().__init__(
            f"Expected at least 1 piece per SKU, got {quantity} of {sku!r} in order {order_id}. "
            "Edit the quantity and replay, or cancel the order: discarded, it stays without stock for ever."
        )
