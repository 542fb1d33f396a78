"""The pages: order, and watch what becomes of it.

They show no personal data: who has an order's address, or finds it in the list of recent ones, sees what was ordered
and how far it got, not who ordered it.
"""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.html import format_html
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from orders import services
from orders.errors import IdempotencyKeyReused, OrderAlreadySettled, OrderNotFound, OrderRefused
from orders.forms import OrderForm
from orders.models import Order, Product
from orders.timeline import timeline_of

RECENT_ORDERS = 8


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the products, the order form and the recent orders."""
    return _home(request, OrderForm(Product.objects.on_sale()))


@require_http_methods(["GET", "HEAD", "POST"])
def place(request: HttpRequest) -> HttpResponse:
    """Place the order and go to its page at once; show the form again, with what was typed, when something is wrong."""
    if request.method != "POST":
        return redirect("orders:home")  # who reloads or shares the address of a form that was refused
    form = OrderForm(Product.objects.on_sale(), request.POST)
    order = _placed(form) if form.is_valid() else None
    return redirect(order) if order else _home(request, form, status=422)


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
        "timeline": timeline_of(order),
        "lines": [(line, line.product.name_in(language)) for line in lines],
    }
    return render(request, "orders/order.html", context)


@require_safe
def order_progress(request: HttpRequest, order_id: UUID) -> HttpResponse:
    """Return the picture for htmx: nothing (204) if the page has it already; with 286 the last one, to end polling."""
    timeline = timeline_of(get_object_or_404(Order, pk=order_id))
    if timeline.is_settled:
        response: HttpResponse = HttpResponseStopPolling()
    elif request.GET.get("seen") == timeline.digest:
        return HttpResponse(status=204)
    else:
        response = HttpResponse()
    picture = render(request, "orders/_progress.html", {"order": timeline.order, "timeline": timeline, "polled": True})
    response.content = picture.content
    return response


@require_POST
def cancel(request: HttpRequest, order_id: UUID) -> HttpResponse:
    """Cancel the order and go back to its page, which says what came of it."""
    try:
        services.cancel_order(order_id)
    except OrderNotFound as error:
        raise Http404 from error
    except OrderAlreadySettled:
        messages.error(request, _("This order is settled already, so it cannot be cancelled any more."))
    return redirect("orders:order", order_id)


def _home(request: HttpRequest, form: OrderForm, *, status: int = 200) -> HttpResponse:
    context = {"form": form, "recent_orders": Order.objects.all()[:RECENT_ORDERS]}
    return render(request, "orders/home.html", context, status=status)


def _placed(form: OrderForm) -> Order | None:
    try:
        return services.place_order(form.to_request(language=_language()), idempotency_key=form.idempotency_key)
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
        "mixed_currencies": _("These products are priced in different currencies. Please order them one by one."),
    }
