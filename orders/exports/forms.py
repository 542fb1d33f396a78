"""The form of the exports' page: which orders, as what."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from orders.exports.selection import Selection
from orders.exports.states import Format
from orders.models import OrderStatus


class ExportForm(forms.Form):
    """A format, a period with both days included, a status. Left empty, a field narrows nothing down."""

    format = forms.ChoiceField(label=_("Format"), choices=Format.choices, initial=Format.XLSX)
    from_day = forms.DateField(
        label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    to_day = forms.DateField(
        label=_("To"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    status = forms.ChoiceField(label=_("Status"), required=False, choices=[("", _("all")), *OrderStatus.choices])

    def clean(self) -> dict[str, Any]:
        """Demand a period that an export can have."""
        cleaned = self.cleaned_data
        if self.errors:
            return cleaned
        try:
            self._selection = Selection(
                from_day=cleaned["from_day"], to_day=cleaned["to_day"], status=cleaned["status"] or None
            )
        except ValidationError:
            self.add_error("to_day", _("Please choose a period that begins before it ends, between 1900 and 2999."))
        return cleaned

    def to_selection(self) -> Selection:
        """Return which orders are meant. Only for a valid form."""
        return self._selection
