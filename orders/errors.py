"""Why an order is refused, cannot be cancelled, or is not there. Texts hold ids and skus, never a customer's data."""

from collections.abc import Sequence
from uuid import UUID

from baton_messaging.errors import PermanentError

from orders.money import MAX_TOTAL


class OrderRefused(Exception):
    """The catalogue does not allow this order. Nothing was written.

    ``fields`` name what is wrong as paths into the request, such as ``lines.0.sku``.
    """

    def __init__(self, message: str, *, code: str, fields: Sequence[str]) -> None:
        super().__init__(message)
        self.code = code
        self.fields = tuple(fields)


class UnknownProducts(OrderRefused):
    """One or more skus name no product that is on sale. ``skus`` and ``fields`` run in step."""

    def __init__(self, positions_by_sku: dict[str, int]) -> None:
        self.skus = tuple(positions_by_sku)
        super().__init__(
            "Expected the sku of a product on sale. The catalogue on the order page lists them.",
            code="unknown_sku",
            fields=[f"lines.{position}.sku" for position in positions_by_sku.values()],
        )


class TotalTooLarge(OrderRefused):
    """The total is more than the shop can book."""

    def __init__(self) -> None:
        super().__init__(
            f"Expected a total of at most {MAX_TOTAL}, got more. Split the order.",
            code="total_too_large",
            fields=["lines"],
        )


class OneCurrencyOnly(OrderRefused):
    """The products are priced in different currencies."""

    def __init__(self) -> None:
        super().__init__(
            "Expected products of one currency, got several. Place one order per currency.",
            code="mixed_currencies",
            fields=["lines"],
        )


class TooManyOrders(OrderRefused):
    """More orders than the shop takes within ten minutes, for one e-mail address or from one client."""

    def __init__(self, kind: str, *, seconds: int) -> None:
        whose = "for this e-mail address" if kind == "email" else "from this address"
        super().__init__(
            f"Too many orders {whose} within a few minutes. Order again in {seconds} seconds.",
            code=f"too_many_{kind}",
            fields=["customer_email"] if kind == "email" else [],
        )
        self.seconds = seconds


class NotThePlacer(Exception):
    """Neither token nor browser shows that the order is theirs."""

    def __init__(self) -> None:
        super().__init__(
            "Only whoever placed an order can cancel it. Expected a POST to cancel_url of the placing answer, which "
            "has ?token= with its cancel_token, or the cookie placed_by that came with that answer; got neither."
        )


class IdempotencyKeyReused(Exception):
    """The key already stands for an order with other content. Nothing was written."""

    def __init__(self, order_id: UUID) -> None:
        super().__init__("Expected a new key for a new request: this key was used with other content. Choose another.")
        self.order_id = order_id


class OrderAlreadySettled(Exception):
    """The order is confirmed or rejected, so it cannot be cancelled any more."""

    def __init__(self, order_id: UUID, status: str) -> None:
        super().__init__(f"Only an accepted order can be cancelled; order {order_id} is {status}.")
        self.order_id = order_id
        self.status = status


class OrderNotFound(PermanentError):
    """No such order. For a consumer this is permanent: orders are never deleted, so waiting brings none."""

    def __init__(self, order_id: UUID) -> None:
        super().__init__(f"Expected the id of an order, found none with {order_id}.")
        self.order_id = order_id
