"""An amount and its currency, as one value.

Invariant: the amount is a Decimal. A float cannot hold 0.10, so none is accepted anywhere on the way of a price.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

# The widest amount that the column of an order's total holds: numeric(14, 2).
MAX_TOTAL = Decimal("999999999999.99")


class MixedCurrencies(ValueError):
    """Amounts of different currencies cannot be added: there is no rate to convert them by."""

    def __init__(self, currencies: Iterable[str]) -> None:
        found = ", ".join(sorted(currencies))
        super().__init__(f"Expected amounts of one currency, got {found}. Add them per currency.")


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount of one currency (ISO 4217 code).

    >>> Money(Decimal("0.10"), "EUR") * 3
    Money(amount=Decimal('0.30'), currency='EUR')
    """

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        if not isinstance(self.amount, Decimal):
            raise TypeError(f"Expected a Decimal amount, got {type(self.amount).__name__}. Build it from a string.")

    def __mul__(self, count: int) -> "Money":
        return Money(self.amount * count, self.currency)

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"


def total_of(amounts: Iterable[Money]) -> Money:
    """Add up one or more amounts. Raises MixedCurrencies.

    >>> str(total_of([Money(Decimal("1.10"), "EUR"), Money(Decimal("2.20"), "EUR")]))
    '3.30 EUR'
    """
    summands = list(amounts)
    currencies = {money.currency for money in summands}
    if len(currencies) != 1:
        raise MixedCurrencies(currencies)
    return Money(sum((money.amount for money in summands), Decimal(0)), currencies.pop())
