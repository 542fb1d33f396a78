"""Stock and demands for the tests of inventory."""

from uuid import UUID

from uuid_utils.compat import uuid7

from inventory.allocation import Demand
from inventory.models import StockItem


def stock(**on_hand: int) -> None:
    StockItem.objects.bulk_create(StockItem(sku=sku, on_hand=count) for sku, count in on_hand.items())


def demand(*skus: str, order_id: UUID | None = None, **quantities: int) -> Demand:
    """One order: a piece of each SKU named, or the quantities given."""
    return Demand.of_lines(order_id or uuid7(), [*((sku, 1) for sku in skus), *quantities.items()])


def reserved(sku: str) -> int:
    return StockItem.objects.get(pk=sku).reserved
