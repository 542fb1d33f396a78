"""Amounts stay exact, and of one currency."""

import doctest
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orders import money, plain_text
from orders.money import MixedCurrencies, Money, total_of


@pytest.mark.parametrize("amount", [0.1, 1, True, "1.00"])
def test_only_a_decimal_is_an_amount(amount: Any) -> None:
    with pytest.raises(TypeError, match="Expected a Decimal amount"):
        Money(amount, "EUR")


@given(st.lists(st.decimals("0", "99999.99", places=2), min_size=1), st.integers(1, 10_000))
def test_sums_and_products_lose_no_cent(amounts: list[Decimal], count: int) -> None:
    total = total_of(Money(amount, "EUR") * count for amount in amounts)
    cents = sum(int(amount * 100) for amount in amounts) * count
    assert total.amount * 100 == cents


def test_currencies_are_not_added_up() -> None:
    with pytest.raises(MixedCurrencies, match="got EUR, USD"):
        total_of([Money(Decimal(1), "EUR"), Money(Decimal(1), "USD")])


@pytest.mark.parametrize("module", [money, plain_text])
def test_examples_in_the_documentation_are_right(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
