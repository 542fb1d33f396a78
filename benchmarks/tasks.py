"""The work on Baton's side: a handler as Baton's own apps write it, one message at a time and set-at-a-time."""

from baton_messaging.consumer import consumer
from django.db import connection
from django.db.models import F
from django.utils import timezone

from benchmarks.events import Bundled, Listed, Single, Timed
from benchmarks.models import Effect, Stock, Timing


@consumer(Single, bundle_size=1)
def take_single(event: Single) -> None:
    _take(event)


@consumer(Bundled, bundle_size=100)
def take_bundled(event: Bundled) -> None:
    _take(event)


@consumer(Listed, bundle=True, bundle_size=500)
def take_listed(events: list[Listed]) -> None:
    order_ids = [event.order_id for event in events]
    skus = [event.sku for event in events]
    quantities = [event.quantity for event in events]
    with connection.cursor() as cursor:
        cursor.execute(_RESERVE, [skus, quantities])
        cursor.execute(_INSERT, [order_ids, skus, quantities])


@consumer(Timed)
def take_timed(event: Timed) -> None:
    handled_at = timezone.now()
    Timing.objects.create(order_id=event.order_id, handled_at=handled_at)


def _take(event: Single | Bundled) -> None:
    Stock.objects.filter(sku=event.sku).update(reserved=F("reserved") + event.quantity)
    Effect.objects.create(order_id=event.order_id, sku=event.sku, quantity=event.quantity)


_RESERVE = """
    UPDATE benchmarks_stock AS stock SET reserved = stock.reserved + taken.quantity
    FROM (
        SELECT sku, sum(quantity) AS quantity FROM unnest(%s::text[], %s::integer[]) AS message (sku, quantity)
        GROUP BY sku ORDER BY sku
    ) AS taken WHERE stock.sku = taken.sku
"""
_INSERT = """
    INSERT INTO benchmarks_effect (order_id, sku, quantity)
    SELECT order_id, sku, quantity
    FROM unnest(%s::uuid[], %s::text[], %s::integer[]) AS message (order_id, sku, quantity)
"""
