"""What can be done with orders. Each function is one use case and one transaction; the API, the pages, the admin, the
consumers and the tests all come through here.

Invariants: an order, its lines and its message exist together or not at all. One idempotency key is one order: the
unique constraint decides, so of twenty that race one inserts and nineteen are handed what it inserted.
"""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

import structlog
from baton_messaging.publish import publish
from django.db import IntegrityError, transaction
from django.utils import timezone

from orders.deadline import lift_deadline, set_deadline
from orders.errors import (
    IdempotencyKeyReused,
    OneCurrencyOnly,
    OrderAlreadySettled,
    OrderNotFound,
    OrderRefused,
    TotalTooLarge,
    UnknownProducts,
)
from orders.events import Line, OrderCancelled, OrderPlaced
from orders.models import DailySales, Order, OrderLine, OrderStatus, Product, SalesIncrement
from orders.money import MAX_TOTAL, MixedCurrencies, Money, total_of
from orders.requests import OrderRequest, RequestedLine

log = structlog.get_logger(__name__)


def place_order(
    request: OrderRequest,
    *,
    idempotency_key: str | None = None,
    placed_by: str = "",
    admit: Callable[[str], None] | None = None,
) -> Order:
    """Accept an order and tell of it; with a key that was used before, return the order of then.

    ``placed_by`` is what is kept of the browser (``orders.placer``); ``admit`` is asked about the e-mail address, in
    the order's transaction, and may raise TooManyOrders (``orders.limits``).

    Raises UnknownProducts, OneCurrencyOnly and TotalTooLarge (all OrderRefused), IdempotencyKeyReused.
    """
    try:
        with transaction.atomic():
            order = _accept(request, idempotency_key, placed_by)
            if admit:
                admit(request.customer_email)
    except (IntegrityError, OrderRefused):
        # Also after a refusal: a repeated request gets its old answer when the product has left the catalogue since.
        earlier = _placed_before(request, idempotency_key)
        if earlier is None:
            raise
        log.info("order_placed_before", order_id=str(earlier.pk))
        return earlier
    log.info("order_placed", order_id=str(order.pk), line_count=len(request.lines))
    return order


def cancel_order(order_id: UUID) -> Order:
    """Cancel an order that is not settled yet; one that is cancelled already stays so and no second message goes out.

    Raises OrderNotFound, OrderAlreadySettled.
    """
    with transaction.atomic():
        changed = Order.objects.cancel(order_id)
        order = Order.objects.filter(pk=order_id).first()
        if order is None:
            raise OrderNotFound(order_id)
        if changed:
            publish(_cancelled(order))
            lift_deadline(order_id)
    if order.status != OrderStatus.CANCELLED:
        raise OrderAlreadySettled(order_id, order.status)
    log.info("order_cancelled" if changed else "order_cancelled_before", order_id=str(order_id))
    return order


@transaction.atomic
def cancel_overdue_order(order_id: UUID) -> None:
    """Cancel an order whose time is over. One that was settled meanwhile stays what it is."""
    changed = Order.objects.cancel(order_id)
    if changed:
        publish(_cancelled(Order.objects.get(pk=order_id), is_overdue=True))
    log.info("order_overdue" if changed else "order_settled_before", order_id=str(order_id))


@transaction.atomic
def confirm_order(order_id: UUID) -> None:
    """Note that the stock is reserved. An order that was cancelled meanwhile stays cancelled."""
    changed = Order.objects.confirm(order_id)
    lift_deadline(order_id)
    log.info("order_confirmed" if changed else "order_settled_before", order_id=str(order_id))


@transaction.atomic
def reject_order(order_id: UUID) -> None:
    """Note that there is not enough stock. An order that was cancelled meanwhile stays cancelled."""
    changed = Order.objects.reject(order_id)
    lift_deadline(order_id)
    log.info("order_rejected" if changed else "order_settled_before", order_id=str(order_id))


def record_sales(events: Sequence[OrderPlaced]) -> None:
    """Add orders to the figures of the days on which they were placed."""
    DailySales.objects.add(
        SalesIncrement(timezone.localdate(event.placed_at), event.currency, order_count=1, amount=event.total)
        for event in events
    )


def record_cancellation(event: OrderCancelled) -> None:
    """Add a cancellation to the figures of the day on which its order was placed."""
    day = timezone.localdate(event.placed_at)
    DailySales.objects.add([SalesIncrement(day, event.currency, cancelled_count=1, cancelled_amount=event.total)])


def _accept(request: OrderRequest, idempotency_key: str | None, placed_by: str) -> Order:
    products = Product.objects.on_sale().in_bulk([line.sku for line in request.lines])
    _refuse_unknown(request.lines, products)
    total = _total(request.lines, products)
    order = Order(
        customer_name=request.customer_name,
        customer_email=request.customer_email,
        language=request.language,
        note=request.note,
        currency=total.currency,
        total=total.amount,
        idempotency_key=idempotency_key,
        request_fingerprint=request.fingerprint(),
        placed_by=placed_by,
    )
    order.save(force_insert=True)
    OrderLine.objects.add(order.pk, [(line.sku, line.quantity, products[line.sku].price) for line in request.lines])
    publish(_placed(order, request.lines))
    set_deadline(order)
    return order


def _refuse_unknown(lines: Sequence[RequestedLine], products: Mapping[str, Product]) -> None:
    unknown = {line.sku: position for position, line in enumerate(lines) if line.sku not in products}
    if unknown:
        raise UnknownProducts(unknown)


def _total(lines: Sequence[RequestedLine], products: Mapping[str, Product]) -> Money:
    try:
        total = total_of(products[line.sku].unit_price * line.quantity for line in lines)
    except MixedCurrencies as error:
        raise OneCurrencyOnly from error
    if total.amount > MAX_TOTAL:
        raise TotalTooLarge
    return total


def _placed_before(request: OrderRequest, idempotency_key: str | None) -> Order | None:
    if idempotency_key is None:
        return None
    order = Order.objects.filter(idempotency_key=idempotency_key).first()
    if order is not None and order.request_fingerprint != request.fingerprint():
        raise IdempotencyKeyReused(order.pk)
    return order


def _placed(order: Order, lines: Sequence[RequestedLine]) -> OrderPlaced:
    return OrderPlaced(
        order_id=order.pk,
        placed_at=order.placed_at,
        lines=tuple(Line(sku=line.sku, quantity=line.quantity) for line in lines),
        total=order.total,
        currency=order.currency,
    )


def _cancelled(order: Order, *, is_overdue: bool = False) -> OrderCancelled:
    return OrderCancelled(
        order_id=order.pk,
        placed_at=order.placed_at,
        total=order.total,
        currency=order.currency,
        is_overdue=is_overdue,
    )
