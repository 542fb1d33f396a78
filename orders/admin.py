"""The admin of orders. Orders and figures can be read only: they change by what happens, and by the named action."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display

from orders import services
from orders.errors import OrderAlreadySettled
from orders.exports.admin import export_as_csv, export_as_xlsx
from orders.models import DailySales, Order, OrderLine, OrderQuerySet, OrderStatus, Product
from orders.rights import Right, may
from orders.search import search
from orders.templatetags.money import money
from orders.timeline import timeline_of

_STATUS_COLOURS: dict[str, str] = {
    OrderStatus.ACCEPTED: "info",
    OrderStatus.CONFIRMED: "success",
    OrderStatus.REJECTED: "warning",
    OrderStatus.CANCELLED: "",
}


def _never(*_args: Any, **_kwargs: Any) -> bool:
    """Refuse: the permission of what people may look at, but not make, change or delete."""
    return False


class OrderLineInline(TabularInline):
    """What was ordered."""

    model = OrderLine
    has_add_permission = has_change_permission = has_delete_permission = _never
    extra = 0
    show_title = False  # the name from django-unfold 0.110 on; older ones show a title that says nothing new
    fields = ["product", "quantity", "unit_price"]

    def get_queryset(self, request: HttpRequest) -> Any:
        """Fetch the products along: one query, not one per line."""
        return super().get_queryset(request).select_related("product")


@admin.register(Order)
class OrderAdmin(ModelAdmin):
    """Orders with their lines and their way."""

    has_add_permission = has_change_permission = has_delete_permission = _never
    list_display = ["number", "state", "attention", "amount", "language", "placed_at", "settled_at"]
    list_filter = ["status", "needs_attention", "language", "placed_at"]
    search_fields = ["customer_name", "customer_email"]  # and the number: get_search_results
    search_help_text = _("Number, customer's name or e-mail")
    show_full_result_count = False  # counting millions of rows for a footnote
    list_before_template = "orders/exports/_admin_list.html"  # type: ignore[assignment]  # unfold says None only
    readonly_fields = ["id", "amount", "way"]
    inlines = [OrderLineInline]
    actions = ["cancel_orders", export_as_xlsx, export_as_csv]
    fieldsets = [
        (None, {"fields": ["id", "status", "needs_attention", "amount", "placed_at", "settled_at", "way"]}),
        (_("Customer"), {"fields": ["customer_name", "customer_email", "language", "note"]}),
        (_("Request"), {"fields": ["idempotency_key", "request_fingerprint"]}),
    ]

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Search as an export of the list does."""
        return search(queryset, search_term), False

    @admin.display(description=_("order"), ordering="id")
    def number(self, order: Order) -> str:
        """Return what people call the order by."""
        return order.reference

    @display(label=_STATUS_COLOURS)
    @admin.display(description=_("status"), ordering="status")
    def state(self, order: Order) -> tuple[str, str]:
        """Return the status with its colour."""
        return order.status, order.get_status_display()

    @display(label={"flagged": "danger"})
    @admin.display(description=_("needs attention"), ordering="needs_attention")
    def attention(self, order: Order) -> tuple[str, Promise] | str:
        """Return a mark on what a person must look at, nothing on the rest."""
        return ("flagged", _("needs attention")) if order.needs_attention else ""

    @admin.display(description=_("total"), ordering="total")
    def amount(self, order: Order) -> str:
        """Return the total with its currency."""
        return money(order.total, order.currency)

    @admin.display(description=_("progress"))
    def way(self, order: Order) -> SafeString:
        """Return what each consumer has done with the order."""
        return render_to_string("orders/_admin_way.html", {"timeline": timeline_of(order)})

    @admin.action(description=_("Cancel the selected orders (accepted ones only)"), permissions=["cancel"])
    def cancel_orders(self, request: HttpRequest, queryset: OrderQuerySet) -> None:
        """Cancel each order that is not settled yet, and say how many were."""
        cancelled_count = settled_count = 0
        for order_id in queryset.values_list("pk", flat=True):
            try:
                services.cancel_order(order_id)
                cancelled_count += 1
            except OrderAlreadySettled:
                settled_count += 1
        text = ngettext("%(count)d order is cancelled.", "%(count)d orders are cancelled.", cancelled_count)
        self.message_user(request, text % {"count": cancelled_count}, messages.SUCCESS)
        if settled_count:
            text = ngettext(
                "%(count)d order was settled already and stays as it is.",
                "%(count)d orders were settled already and stay as they are.",
                settled_count,
            )
            self.message_user(request, text % {"count": settled_count}, messages.WARNING)

    def has_export_permission(self, request: HttpRequest) -> bool:
        """Ask for the right to take customers' data along."""
        return may(request.user, Right.ASK_FOR_EXPORT)

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        """Ask for the right to change orders, which this read-only page grants to nobody otherwise."""
        return may(request.user, Right.CANCEL_ORDER)


@admin.register(Product)
class ProductAdmin(ModelAdmin):
    """The catalogue. A product that was ordered once is taken off sale rather than deleted."""

    list_display = ["sku", "name", "name_ja", "price", "currency", "is_active"]
    list_filter = ["is_active", "currency"]
    search_fields = ["sku", "name", "name_ja"]

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> list[str]:
        """Let the sku be written once: the stock and all orders know the product by it."""
        return ["sku"] if obj else []


@admin.register(DailySales)
class DailySalesAdmin(ModelAdmin):
    """The figures, as the consumers keep them."""

    has_add_permission = has_change_permission = has_delete_permission = _never
    list_display = ["day", "currency", "order_count", "amount", "cancelled_count", "cancelled_amount"]
    list_filter = ["currency"]
    date_hierarchy = "day"
