"""Stock can be counted anew; reservations are the machinery's and can only be read."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline

from inventory.models import Reservation, ReservationLine, StockItem


class StockItemForm(forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """Refuse a count below what is already promised, before the constraint has to."""

    class Meta:
        model = StockItem
        fields = ("sku", "on_hand")

    def clean_on_hand(self) -> int:
        """Name the pieces that are reserved, which the form cannot change."""
        on_hand: int = self.cleaned_data["on_hand"]
        if on_hand < 0:
            raise ValidationError(_("Enter 0 or more."), code="negative")
        if on_hand < self.instance.reserved:
            raise ValidationError(
                _("%(reserved)d pieces are reserved for orders: enter that many or more, or cancel orders first."),
                code="below_reserved",
                params={"reserved": self.instance.reserved},
            )
        return on_hand


@admin.register(StockItem)
class StockItemAdmin(ModelAdmin):
    """Only ``on_hand`` can be edited; ``reserved`` belongs to the reservations."""

    form = StockItemForm
    list_display = ("sku", "on_hand", "reserved", "available")
    search_fields = ("sku",)
    readonly_fields = ("reserved",)

    @admin.display(description=_("available"))
    def available(self, item: StockItem) -> int:
        """Return the pieces that a new order can still get."""
        return item.available

    def get_readonly_fields(self, request: HttpRequest, obj: StockItem | None = None) -> tuple[str, ...]:
        """Freeze the SKU of a row that exists: it is the key that reservations refer to."""
        return ("sku", "reserved") if obj else ("reserved",)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> StockItem | None:
        """Lock the row while a form is saved, so that ``reserved`` cannot rise between the check and the UPDATE."""
        item: StockItem | None = super().get_object(request, object_id, from_field)
        if item is not None and request.method == "POST" and transaction.get_connection().in_atomic_block:
            return StockItem.objects.select_for_update(no_key=True).filter(pk=item.pk).first()
        return item

    def save_model(self, request: HttpRequest, obj: Model, form: forms.Form, change: bool) -> None:
        """Write only the count: saving the whole row would put back an old ``reserved``."""
        if change:
            obj.save(update_fields=["on_hand"])
        else:
            obj.save(force_insert=True)


class ReservationLineInline(TabularInline):
    """The lines of a reservation, to be read."""

    model = ReservationLine
    extra = 0
    fields = ("item", "quantity")
    readonly_fields = ("item", "quantity")
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Leave lines to the consumers."""
        return False


@admin.register(Reservation)
class ReservationAdmin(ModelAdmin):
    """Read-only: to give stock back, cancel the order."""

    list_display = ("order_id", "state", "created_at", "updated_at")
    list_filter = ("state",)
    search_fields = ("order_id__exact",)
    inlines = (ReservationLineInline,)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Leave reservations to the consumers."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Reservation | None = None) -> bool:
        """Leave reservations to the consumers."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Reservation | None = None) -> bool:
        """Leave reservations to the consumers: a deleted one would let its order reserve again."""
        return False
