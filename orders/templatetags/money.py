"""Amounts in templates, written as the reader's language writes them."""

from decimal import Decimal

from django import template
from django.utils.formats import number_format

register = template.Library()


@register.filter
def money(amount: Decimal, currency: str) -> str:
    """Write an amount with its currency, kept on one line: ``{{ order.total|money:order.currency }}``.

    >>> money(Decimal("1234.5"), "EUR")
    '1,234.50\\xa0EUR'
    """
    return f"{number_format(amount, decimal_pos=2, use_l10n=True, force_grouping=True)}\N{NO-BREAK SPACE}{currency}"
