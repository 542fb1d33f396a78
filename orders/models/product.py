"""What is for sale. How many there are is the inventory's knowledge, not ours."""

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from orders.money import Money
from orders.plain_text import validate_plain_line
from orders.requests import MAX_SKU_LENGTH

_SKU_FORMAT = r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z"
_CURRENCY_FORMAT = r"^[A-Z]{3}\Z"


class ProductQuerySet(models.QuerySet["Product"]):
    """Which products."""

    def on_sale(self) -> "ProductQuerySet":
        """Return what customers may order now."""
        return self.filter(is_active=True)


class Product(models.Model):
    """One article of the catalogue, with its price of today."""

    sku = models.CharField(
        _("SKU"),
        primary_key=True,
        max_length=MAX_SKU_LENGTH,
        validators=[RegexValidator(_SKU_FORMAT)],
        help_text=_("Letters, digits, dot, dash and underscore."),
    )
    name = models.CharField(_("name"), max_length=200, validators=[validate_plain_line])
    name_ja = models.CharField(_("Japanese name"), max_length=200, blank=True, validators=[validate_plain_line])
    price = models.DecimalField(_("price"), max_digits=12, decimal_places=2, validators=[MinValueValidator(0)])
    currency = models.CharField(
        _("currency"), max_length=3, default="EUR", validators=[RegexValidator(_CURRENCY_FORMAT)], help_text="ISO 4217"
    )
    is_active = models.BooleanField(_("on sale"), default=True)

    objects = ProductQuerySet.as_manager()

    class Meta:
        verbose_name = _("product")
        verbose_name_plural = _("products")
        ordering = ["sku"]
        constraints = [
            models.CheckConstraint(condition=models.Q(sku__regex=_SKU_FORMAT), name="product_sku_well_formed"),
            models.CheckConstraint(condition=models.Q(price__gte=0), name="product_price_not_negative"),
            models.CheckConstraint(condition=models.Q(currency__regex=_CURRENCY_FORMAT), name="product_currency_iso"),
        ]

    def __str__(self) -> str:
        return self.sku

    @property
    def unit_price(self) -> Money:
        """Return the price of one piece."""
        return Money(self.price, self.currency)

    def name_in(self, language: str | None) -> str:
        """Return the name for a reader of this language; the English one where there is no other."""
        return (self.name_ja if language == "ja" else "") or self.name
