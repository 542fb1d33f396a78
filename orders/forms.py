"""The order form of the page: who orders, and how many of each product."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from orders import requests
from orders.models import Product
from orders.plain_text import validate_name, validate_plain_line
from orders.requests import OrderRequest, RequestedLine

SCARCE = 20  # pieces

_QUANTITY = "quantity-"


@dataclass(frozen=True)
class Row:
    """One product of the form and the field for its quantity."""

    product: Product
    name: str
    field: forms.BoundField
    available: int | None

    @property
    def cents(self) -> int:
        """Return the price as a whole number, which a script adds up exactly."""
        return int(self.product.price * 100)

    @property
    def is_sold_out(self) -> bool:
        """Tell whether there is none."""
        return self.available == 0

    @property
    def is_scarce(self) -> bool:
        """Tell whether there are so few that one should know."""
        return self.available is not None and self.available <= SCARCE


class OrderForm(forms.Form):
    """Built from the products on sale: one quantity field each, named by the sku.

    ``token`` is made when the form is shown and is the order's idempotency key, so a double click is one order.
    """

    token = forms.UUIDField(widget=forms.HiddenInput)
    customer_name = forms.CharField(
        label=_("Your name"),
        max_length=requests.MAX_NAME_LENGTH,
        validators=[validate_plain_line, validate_name],
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    customer_email = forms.EmailField(
        label=_("Your e-mail"),
        max_length=requests.MAX_EMAIL_LENGTH,
        help_text=_("We write at once, and again when the order is confirmed."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    note = forms.CharField(
        label=_("Note (optional)"),
        max_length=requests.MAX_NOTE_LENGTH,
        required=False,
        validators=[validate_plain_line],
    )

    def __init__(
        self, products: Iterable[Product], data: QueryDict | None = None, *, available: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(data, initial={"token": uuid7()})
        self._products = list(products)
        self._available = {sku: max(count, 0) for sku, count in (available or {}).items()}
        for product in self._products:
            self.fields[_QUANTITY + product.sku] = _quantity_field(self._available.get(product.sku))

    def rows(self) -> Iterator[Row]:
        """Give the products with their fields, named in the reader's language."""
        for product in self._products:
            field, available = self[_QUANTITY + product.sku], self._available.get(product.sku)
            yield Row(product, product.name_in(get_language()), field, available)

    def clean(self) -> dict[str, Any]:
        """Demand at least one product, and no product that has left the catalogue while the form was open."""
        cleaned = self.cleaned_data
        wanted = {name for name, value in self.data.items() if name.startswith(_QUANTITY) and value not in ("", "0")}
        if wanted - self.fields.keys():
            self.add_error(None, _("A product that you chose is no longer for sale. Please look over your order."))
        elif not wanted:
            self.add_error(None, _("Please choose a quantity of at least one product."))
        elif len(wanted) > requests.MAX_LINES:
            message = _("Please order at most %(count)d products at once.")
            self.add_error(None, ValidationError(message, params={"count": requests.MAX_LINES}))
        if "token" in self.errors:
            self.renew_token()
            self.add_error(None, _("This form is too old. Please send it again."))
        return cleaned

    def renew_token(self) -> None:
        """Make the next sending of this form an order of its own."""
        self.data = {**{name: self.data[name] for name in self.data}, "token": str(uuid7())}

    @property
    def idempotency_key(self) -> str:
        """Return the key that this showing of the form stands for."""
        token: UUID = self.cleaned_data["token"]
        return str(token)

    def to_request(self, *, language: str) -> OrderRequest:
        """Return the request as the service takes it. Only for a valid form."""
        quantities = {product.sku: self.cleaned_data[_QUANTITY + product.sku] for product in self._products}
        return OrderRequest(
            customer_name=self.cleaned_data["customer_name"],
            customer_email=self.cleaned_data["customer_email"],
            language=language,
            note=self.cleaned_data["note"],
            lines=tuple(RequestedLine(sku, quantity) for sku, quantity in quantities.items() if quantity),
        )


def _quantity_field(available: int | None) -> forms.IntegerField:
    limit = requests.MAX_QUANTITY if available is None else min(available, requests.MAX_QUANTITY)
    if limit == available:
        too_many = _("We have %(limit_value)s of it at the moment. Please order at most that many.")
    else:
        too_many = _("Please order at most %(limit_value)s of one product.")
    return forms.IntegerField(
        label=_("Quantity"),
        min_value=0,
        max_value=limit,
        required=False,
        widget=forms.NumberInput(attrs={"inputmode": "numeric", "placeholder": "0"}),
        error_messages={
            "invalid": _("Please enter a whole number."),
            "min_value": _("Please enter 0 or more."),
            "max_value": _("This product is sold out.") if limit == 0 else too_many,
        },
    )
