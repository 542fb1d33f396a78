"""The JSON API of orders and products.

Cancelling asks for the token of the placing answer, or for the browser's key: a cookie that browsers send along from
pages of this site only (SameSite), so a page elsewhere cannot act in a visitor's name.
"""

from collections.abc import Iterable
from typing import Annotated
from uuid import UUID

from baton_messaging.extend import progress_of
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Body, Header, Query, Router
from ninja.errors import HttpError, ValidationError
from ninja.responses import Status as Answer
from ninja.utils import check_csrf

from orders import placer, services
from orders.errors import (
    IdempotencyKeyReused,
    NotThePlacer,
    OrderAlreadySettled,
    OrderNotFound,
    OrderRefused,
    TooManyOrders,
)
from orders.limits import Limits
from orders.models import Order, Product
from orders.rights import Right, may
from orders.schemas import (
    ConsumerOut,
    IdempotencyKey,
    LineOut,
    OrderAnswer,
    OrderIn,
    OrderOut,
    PlacedAnswer,
    Problem,
    ProductOut,
)

router = Router(tags=["orders"], auth=None)
products_router = Router(tags=["products"], auth=None)

_UNREADABLE = {400: Problem, 413: Problem, 415: Problem}


class TooManyRequests(HttpError):
    """429, with the seconds after which asking again makes sense."""

    def __init__(self, refusal: TooManyOrders) -> None:
        super().__init__(429, str(refusal))
        self.retry_seconds = refusal.seconds


@products_router.get("", response=list[ProductOut], summary="List what is for sale")
def list_products(request: HttpRequest) -> list[ProductOut]:
    """Return the products on sale, with today's prices."""
    return [ProductOut.model_validate(product) for product in Product.objects.on_sale()]


@router.post("", response={202: PlacedAnswer, 422: Problem, 429: Problem, **_UNREADABLE}, summary="Place an order")
def place_order(
    request: HttpRequest,
    response: HttpResponse,
    body: Annotated[OrderIn, Body()],
    idempotency_key: Annotated[IdempotencyKey | None, Header(alias="Idempotency-Key")] = None,
) -> Answer[PlacedAnswer]:
    """Accept an order. What comes of it is at `status_url`; `cancel_url` cancels it, and is for whoever placed it.

    Send an `Idempotency-Key` of your own making to be safe against sending twice: the same key with the same content
    gets the same answer and places no second order; with other content it is refused.
    """
    limits, (placed_by, cookie) = Limits(request), placer.placing(request)
    try:
        limits.count_client()
        placed = services.place_order(
            body.to_request(), idempotency_key=idempotency_key, placed_by=placed_by, admit=limits.count_email
        )
    except TooManyOrders as refusal:
        raise TooManyRequests(refusal) from refusal
    except OrderRefused as refusal:
        raise _invalid("body", refusal.fields, refusal.code, str(refusal)) from refusal
    except IdempotencyKeyReused as refusal:
        raise _invalid("header", ["Idempotency-Key"], "key_reused", str(refusal)) from refusal
    token = placer.token_of(placed.pk)
    answer = PlacedAnswer(
        order_id=placed.pk,
        status="accepted",
        status_url=_status_url(placed.pk),
        cancel_token=token,
        cancel_url=f"{reverse('api:cancel_order', args=[placed.pk])}?token={token}",
    )
    placer.remember(response, cookie)
    response["Location"] = answer.status_url
    return Answer(202, answer)


@router.get("/{order_id}", response={200: OrderOut, 404: Problem}, url_name="order", summary="See how far it got")
def read_order(request: HttpRequest, order_id: UUID) -> Answer[OrderOut]:
    """Return the order's status and what each consumer has done with it. Poll until all are `done` or `dead`."""
    order = Order.objects.filter(pk=order_id).prefetch_related("lines").first()
    if order is None:
        raise HttpError(404, str(OrderNotFound(order_id)))
    return Answer(200, _order_out(order))


@router.post(
    "/{order_id}/cancel",
    response={202: OrderAnswer, 403: Problem, 404: Problem, 409: Problem},
    url_name="cancel_order",
    summary="Cancel an order",
)
def cancel_order(
    request: HttpRequest, response: HttpResponse, order_id: UUID, token: Annotated[str, Query(max_length=100)] = ""
) -> Answer[OrderAnswer]:
    """Cancel an order that is not settled yet: by `cancel_url` of the placing answer, or in the browser that placed it.

    Cancelling twice is no error; a settled order answers 409.
    """
    order = Order.objects.filter(pk=order_id).first()
    if order is None:
        raise HttpError(404, str(OrderNotFound(order_id)))
    if not placer.has_placed(request, order, token=token) and not _is_permitted_staff(request):
        raise HttpError(403, str(NotThePlacer()))
    try:
        order = services.cancel_order(order_id)
    except OrderAlreadySettled as error:
        raise HttpError(409, str(error)) from error
    answer = OrderAnswer(order_id=order.pk, status="cancelled", status_url=_status_url(order.pk))
    response["Location"] = answer.status_url
    return Answer(202, answer)


def _is_permitted_staff(request: HttpRequest) -> bool:
    """Tell whether somebody is logged in who may cancel orders of others, and asks from this site (CSRF token)."""
    return may(request.user, Right.CANCEL_ORDER) and check_csrf(request) is None


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
