"""Reserve and release stock for any number of orders with a fixed number of statements.

Invariants: an order gets all its pieces or none; stock is given back once; a cancel that overtakes its reservation
leaves a tombstone, so that nothing is held in the end. They hold by the constraints in inventory/models.py and by one
lock order: reservations by order_id, then stock by SKU. Hazard: calling either function twice in one transaction
breaks that order and may deadlock; hand over all orders in one call.
"""

from collections.abc import Collection, Sequence
from uuid import UUID

import structlog
from baton_messaging.publish import publish
from django.db import transaction
from django.db.models import Sum

from inventory.allocation import Allocation, Demand, allocate
from inventory.events import StockRejected, StockReserved
from inventory.models import Reservation, ReservationLine, StockItem

log = structlog.get_logger(__name__)


@transaction.atomic
def reserve(demands: Sequence[Demand]) -> None:
    """Set stock aside for the orders, first come first served, and publish the answer to each.

    Orders that already have a reservation are skipped: their answer was published with it, or they were cancelled.
    """
    new = _claimed(demands)
    if not new:
        return
    skus = {sku for demand in new for sku in demand.quantities}
    outcome = allocate(new, StockItem.objects.lock_available(skus))
    if outcome.reserved:
        _hold(outcome)
    if outcome.short_skus:
        Reservation.objects.move_to(Reservation.State.REJECTED, outcome.short_skus)
    publish(
        *(StockReserved(order_id=demand.order_id) for demand in outcome.reserved),
        *(StockRejected(order_id=order_id, skus=skus) for order_id, skus in outcome.short_skus.items()),
    )
    log.info("stock_reserved", reserved_count=len(outcome.reserved), rejected_count=len(outcome.short_skus))


@transaction.atomic
def release(order_ids: Collection[UUID]) -> None:
    """Give back what the orders hold, once; leave a tombstone where nothing was reserved yet.

    A rejected reservation holds nothing and stays rejected.
    """
    tombstones = Reservation.objects.claim(order_ids, state=Reservation.State.RELEASED)
    held = Reservation.objects.lock_held(set(order_ids) - tombstones)
    if held:
        _give_back(held)
        Reservation.objects.move_to(Reservation.State.RELEASED, held)
    log.info("stock_released", released_count=len(held), tombstone_count=len(tombstones))


def available() -> dict[str, int]:
    """Return how many pieces a new order can still get, by SKU. True for this moment: nothing is locked."""
    return StockItem.objects.available()


def _claimed(demands: Sequence[Demand]) -> list[Demand]:
    """Insert the reservations and return the demands, in message order, that are ours to decide."""
    first_of: dict[UUID, Demand] = {}
    for demand in demands:
        first_of.setdefault(demand.order_id, demand)
    claimed = Reservation.objects.claim(first_of.keys(), state=Reservation.State.RESERVED)
    return [demand for demand in first_of.values() if demand.order_id in claimed]


def _hold(outcome: Allocation) -> None:
    StockItem.objects.shift_reserved(outcome.taken)
    ReservationLine.objects.bulk_create(
        ReservationLine(reservation_id=demand.order_id, item_id=sku, quantity=quantity)
        for demand in outcome.reserved
        for sku, quantity in demand.quantities.items()
    )


def _give_back(order_ids: Collection[UUID]) -> None:
    lines = ReservationLine.objects.filter(reservation__in=order_ids)
    quantities = dict(lines.values_list("item").annotate(Sum("quantity")).order_by())
    StockItem.objects.lock_available(quantities)
    StockItem.objects.shift_reserved({sku: -quantity for sku, quantity in quantities.items()})
