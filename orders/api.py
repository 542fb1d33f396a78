"""The JSON API of orders. What changes anything reads no cookie, so a page elsewhere cannot act in a visitor's name."""

from collections.abc import Iterable
from typing import Annotated
from uuid import UUID

from baton_messaging.extend import progress_of
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Body, Header, Router
from ninja.errors import HttpError, ValidationError
from ninja.responses import Status as Answer

from orders import services
from orders.errors import IdempotencyKeyReused, OrderAlreadySettled, OrderNotFound, OrderRefused
from orders.models import Order
from orders.schemas import ConsumerOut, IdempotencyKey, LineOut, OrderAnswer, OrderIn, OrderOut, Problem

router = Router(tags=["orders"], auth=None)

_UNREADABLE = {400: Problem, 413: Problem, 415: Problem}


@router.post("", response={202: OrderAnswer, 422: Problem, **_UNREADABLE}, summary="Place an order")
def place_order(
    request: HttpRequest,
    response: HttpResponse,
    body: Annotated[OrderIn, Body()],
    idempotency_key: Annotated[IdempotencyKey | None, Header(alias="Idempotency-Key")] = None,
) -> Answer[OrderAnswer]:
    """Accept an order. What comes of it is at `status_url`.

    Send an `Idempotency-Key` of your own making to be safe against sending twice: the same key with the same content
    gets the same answer and places no second order; with other content it is refused.
    """
    try:
        placed = services.place_order(body.to_request(), idempotency_key=idempotency_key)
    except OrderRefused as refusal:
        raise _invalid("body", refusal.fields, refusal.code, str(refusal)) from refusal
    except IdempotencyKeyReused as refusal:
        raise _invalid("header", ["Idempotency-Key"], "key_reused", str(refusal)) from refusal
    answer = OrderAnswer(order_id=placed.pk, status="accepted", status_url=_status_url(placed.pk))
    response["Location"] = answer.status_url
    return Answer(202, answer)


@router.get("/{order_id}", response={200: OrderOut, 404: Problem}, url_name="order", summary="See how far it got")
def read_order(request: HttpRequest, order_id: UUID) -> Answer[OrderOut]:
    """Return the order's status and what each consumer has done with it. Poll until all are `done` or `dead`."""
    order = Order.objects.filter(pk=order_id).prefetch_related("lines").first()
    if order is None:
        raise HttpError(404, str(OrderNotFound(order_id)))
    return Answer(200, _order_out(order))


@router.post("/{order_id}/cancel", response={202: OrderAnswer, 404: Problem, 409: Problem}, summary="Cancel an order")
def cancel_order(request: HttpRequest, response: HttpResponse, order_id: UUID) -> Answer[OrderAnswer]:
    """Cancel an order that is not settled yet. Cancelling twice is no error; a settled order answers 409."""
    try:
        order = services.cancel_order(order_id)
    except OrderNotFound as error:
        raise HttpError(404, str(error)) from error
    except OrderAlreadySettled as error:
        raise HttpError(409, str(error)) from error
    answer = OrderAnswer(order_id=order.pk, status="cancelled", status_url=_status_url(order.pk))
    response["Location"] = answer.status_url
    return Answer(202, answer)


def _order_out(order: Order) -> OrderOut:
    return OrderOut.model_validate(
        {
            "order_id": order.pk,
            "status": order.status,
            "needs_attention": order.needs_attention,
            "placed_at": order.placed_at,
            "lines": [
                LineOut(
                    sku=line.product_id, quantity=line.quantity, unit_price=line.unit_price, currency=order.currency
                )
                for line in order.lines.all()
            ],
            "consumers": [ConsumerOut.model_validate(progress) for progress in progress_of(str(order.pk))],
        }
    )


def _status_url(order_id: UUID) -> str:
    """Return a path, not an address: the same answer whatever proxy or host name it was asked through."""
    return reverse("api:order", args=[order_id])


def _invalid(source: str, fields: Iterable[str], code: str, message: str) -> ValidationError:
    return ValidationError([{"loc": (source, *field.split(".")), "type": code, "msg": message} for field in fields])
