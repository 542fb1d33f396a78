"""Stock, demands and events of orders for the tests of inventory."""

from decimal import Decimal
from threading import Thread
from uuid import UUID

from baton_dev.testing.processes import wait_until
from django.db import connection
from django.utils import timezone
from uuid_utils.compat import uuid7

from inventory.allocation import Demand
from inventory.models import StockItem
from orders.events import Line, OrderCancelled, OrderPlaced


def stock(**on_hand: int) -> None:
    StockItem.objects.bulk_create(StockItem(sku=sku, on_hand=count) for sku, count in on_hand.items())


def demand(*skus: str, order_id: UUID | None = None, **quantities: int) -> Demand:
    """One order: a piece of each SKU named, or the quantities given."""
    return Demand.of_lines(order_id or uuid7(), [*((sku, 1) for sku in skus), *quantities.items()])


def placed(quantity: int = 2) -> OrderPlaced:
    lines = (Line(sku="A", quantity=quantity),)
    return OrderPlaced(order_id=uuid7(), placed_at=timezone.now(), lines=lines, total=Decimal(1), currency="EUR")


def cancelled(order_id: UUID) -> OrderCancelled:
    return OrderCancelled(order_id=order_id, placed_at=timezone.now(), total=Decimal(1), currency="EUR")


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
