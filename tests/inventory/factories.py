"""Stock and demands for the tests of inventory."""

from threading import Thread
from uuid import UUID

from baton_dev.testing.processes import wait_until
from django.db import connection
from uuid_utils.compat import uuid7

from inventory.allocation import Demand
from inventory.models import StockItem


def stock(**on_hand: int) -> None:
    StockItem.objects.bulk_create(StockItem(sku=sku, on_hand=count) for sku, count in on_hand.items())


def demand(*skus: str, order_id: UUID | None = None, **quantities: int) -> Demand:
    """One order: a piece of each SKU named, or the quantities given."""
    return Demand.of_lines(order_id or uuid7(), [*((sku, 1) for sku in skus), *quantities.items()])


def wait_until_blocked(thread: Thread) -> None:
    """Wait until a connection waits for a lock; fail if the thread ends instead.

    All connections are looked at: pg_stat_activity, which knows their databases, would show a transaction only those of
    its first look.
    """

    def is_blocked() -> bool:
        assert thread.is_alive(), "the other transaction did not wait"
        with connection.cursor() as cursor:
            cursor.execute("SELECT FROM pg_locks WHERE NOT granted")
            return bool(cursor.rowcount)

    wait_until(is_blocked, what="somebody who waits for a lock")


def reserved(sku: str) -> int:
    return StockItem.objects.get(pk=sku).reserved
