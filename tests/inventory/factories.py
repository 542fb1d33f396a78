"""Stock and demands for the tests of inventory."""

from uuid import UUID

from django.db import connection
from uuid_utils.compat import uuid7

from inventory.allocation import Demand
from inventory.models import StockItem


def stock(**on_hand: int) -> None:
    StockItem.objects.bulk_create(StockItem(sku=sku, on_hand=count) for sku, count in on_hand.items())


def demand(*skus: str, order_id: UUID | None = None, **quantities: int) -> Demand:
    """One order: a piece of each SKU named, or the quantities given."""
    return Demand.of_lines(order_id or uuid7(), [*((sku, 1) for sku in skus), *quantities.items()])


def is_anyone_blocked() -> bool:
    """Tell whether a connection to this database waits for a lock; other test processes have databases of their own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE NOT granted AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])


def reserved(sku: str) -> int:
    return StockItem.objects.get(pk=sku).reserved
