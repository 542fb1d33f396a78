"""The pages: order, and watch what becomes of it.

Whoever has an order's address sees what was ordered and how far it got. Who ordered it is shown to whoever placed it
(``orders.placer``), who may cancel it, too, and to staff with the right; attempts, errors and owners to the staff only.
The list of recent orders tells no address, but for one's own.
"""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.html import format_html
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseStopPolling

from orders import placer, services
from orders.errors import IdempotencyKeyReused, NotThePlacer, OrderAlreadySettled, OrderRefused, TooManyOrders
from orders.forms import OrderForm
from orders.limits import Limits
from orders.models import Order, Product
from orders.rights import Right, may
from orders.stock import available
from orders.timeline import Timeline, timeline_of

RECENT_ORDERS = 8


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the products, the order form and the recent orders."""
    return _home(request, OrderForm(Product.objects.on_sale(), available=available()))


@require_http_methods(["GET", "HEAD", "POST"])
def place(request: HttpRequest) -> HttpResponse:
    """Place the order and go to its page at once; show the form again, with what was typed, when something is wrong."""
    if request.method != "POST":
        return redirect("orders:home")  # who reloads or shares the address of a form that was refused
    form = OrderForm(Product.objects.on_sale(), request.POST, available=available())
    placed_by, cookie = placer.placing(request)
    try:
        order = _placed(form, Limits(request), placed_by) if form.is_valid() else None
    except TooManyOrders as refusal:
        form.add_error(None, _refusals()[refusal.code])
        response = _home(request, form, status=429)
        response["Retry-After"] = str(refusal.seconds)
        return response
    if order is None:
        return _home(request, form, status=422)
    response = redirect(order)
    placer.remember(response, cookie)
    return response


@require_safe
def order_page(request: HttpRequest, order_id: UUID) -> HttpResponse:
    """Show the order and its way so far."""
    order = Order.objects.filter(pk=order_id).first()
    if order is None:
        return render(request, "404.html", status=404)  # a mistyped address is no bug: no debug page for it
    lines = order.lines.select_related("product")
    language = get_language()
    context = {
        "order": order,
        "timeline": _timeline(request, order),
        **_visitor(request, order),
        "lines": [(line, line.product.name_in(language)) for line in lines],
    }
    return render(request, "orders/order.html", context)


@require_safe
def order_progress(request: HttpRequest, order_id: UUID) -> HttpResponse:
    """Return the picture for htmx: nothing (204) if the page has it already; with 286 the last one, to end polling."""
    timeline = _timeline(request, get_object_or_404(Order, pk=order_id))
    if timeline.is_settled:
        response: HttpResponse = HttpResponseStopPolling()
    elif request.GET.get("seen") == timeline.digest:
        return HttpResponse(status=204)
    else:
        response = HttpResponse()
    context = {"order": timeline.order, "timeline": timeline, "polled": True, **_visitor(request, timeline.order)}
    picture = render(request, "orders/_progress.html", context)
    response.content = picture.content
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, order_id: UUID) -> HttpResponse:
    """Ask whether to cancel, then do it and go back to the order. For whoever placed it, and for permitted staff."""
    order = get_object_or_404(Order, pk=order_id)
    visitor = _visitor(request, order)
    if not visitor["can_cancel"]:
        raise PermissionDenied(str(NotThePlacer()))
    if request.method != "POST" and not order.is_final:
        return render(request, "orders/cancel.html", {"order": order, **visitor})
    try:
        services.cancel_order(order_id)
    except OrderAlreadySettled:
        messages.error(request, _("This order has been processed already, so it cannot be cancelled any more."))
    token = f"?{urlencode({'token': visitor['token']})}" if visitor["token"] else ""
    return redirect(order.get_absolute_url() + token)


def _home(request: HttpRequest, form: OrderForm, *, status: int = 200) -> HttpResponse:
    browser = placer.browser_of(request)
    own = Order.objects.filter(placed_by=browser)[:RECENT_ORDERS] if browser else ()
    context = {"form": form, "own_orders": own, "recent_orders": Order.objects.all()[:RECENT_ORDERS]}
    return render(request, "orders/home.html", context, status=status)


def _visitor(request: HttpRequest, order: Order) -> dict[str, Any]:
    """Return what this visitor may see and do, and the token that shows it, for the page to pass on."""
    token = (request.POST if request.method == "POST" else request.GET).get("token", "")
    is_placer = placer.has_placed(request, order, token=token)
    return {
        "can_cancel": is_placer or may(request.user, Right.CANCEL_ORDER),
        "shows_customer": is_placer or may(request.user, Right.SEE_ORDERS),
        "token": token if is_placer else "",
    }


def _timeline(request: HttpRequest, order: Order) -> Timeline:
    return timeline_of(order, is_technical=may(request.user, Right.SEE_ORDERS))


def _placed(form: OrderForm, limits: Limits, placed_by: str) -> Order | None:
    try:
        limits.count_client()
        return services.place_order(
            form.to_request(language=_language()),
            idempotency_key=form.idempotency_key,
            placed_by=placed_by,
            admit=limits.count_email,
        )
    except TooManyOrders:
        raise
    except OrderRefused as refusal:
        form.add_error(None, _refusals()[refusal.code])
    except IdempotencyKeyReused as refusal:
        form.renew_token()
        order = Order(pk=refusal.order_id)
        text = _("This form has placed order %(order)s already. Send it again if you want another one.")
        link = format_html('<a href="{}">{}</a>', order.get_absolute_url(), order.reference)
        form.add_error(None, format_html(text.replace("%(order)s", "{}"), link))
    return None


def _language() -> str:
    return "ja" if get_language() == "ja" else "en"


def _refusals() -> dict[str, str]:
    return {
        "unknown_sku": _("A product that you chose is no longer for sale. Please look over your order."),
        "total_too_large": _("This is more than we can book at once. Please order less."),
        "too_many_email": _("There have been too many orders for this e-mail address. Please wait for a few minutes."),
        "too_many_client": _("There have been too many orders from where you are. Please wait for a few minutes."),
        "mixed_currencies": _("These products are priced in different currencies. Please order them one by one."),
    }
