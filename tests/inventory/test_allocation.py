import doctest

import pytest
from baton_messaging.errors import PermanentError
from hypothesis import given
from hypothesis import strategies as st
from uuid_utils.compat import uuid7

from inventory import allocation
from inventory.allocation import Demand, allocate
from inventory.errors import InvalidQuantity

SKUS = st.sampled_from(["A", "B", "C", "unknown"])
DEMANDS = st.lists(st.dictionaries(SKUS, st.integers(1, 5), min_size=1).map(lambda lines: Demand(uuid7(), lines)))
STOCK = st.fixed_dictionaries({"A": st.integers(0, 20), "B": st.integers(0, 20), "C": st.integers(0, 20)})


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(allocation) == (0, 2)


@given(DEMANDS, STOCK)
def test_no_more_is_promised_than_there_is(demands: list[Demand], available: dict[str, int]) -> None:
    taken = allocate(demands, available).taken
    assert all(quantity <= available.get(sku, 0) for sku, quantity in taken.items())


@given(DEMANDS, STOCK)
def test_every_order_is_either_reserved_or_short_of_something(demands: list[Demand], available: dict[str, int]) -> None:
    outcome = allocate(demands, available)
    reserved = {demand.order_id for demand in outcome.reserved}
    assert reserved | outcome.short_skus.keys() == {demand.order_id for demand in demands}
    assert not reserved & outcome.short_skus.keys()
    assert all(outcome.short_skus.values())


def test_an_earlier_order_comes_first() -> None:
    first, second = Demand(uuid7(), {"A": 2}), Demand(uuid7(), {"A": 2})
    outcome = allocate([first, second], {"A": 3})
    assert outcome.reserved == [first]
    assert outcome.short_skus == {second.order_id: ("A",)}


def test_a_rejected_order_leaves_its_pieces_to_the_next() -> None:
    greedy, modest = Demand(uuid7(), {"A": 1, "B": 9}), Demand(uuid7(), {"A": 1})
    assert allocate([greedy, modest], {"A": 1, "B": 1}).reserved == [modest]


def test_an_unknown_sku_is_short() -> None:
    order = Demand(uuid7(), {"A": 1, "nowhere": 1})
    assert allocate([order], {"A": 1}).short_skus == {order.order_id: ("nowhere",)}


def test_lines_of_the_same_sku_add_up() -> None:
    assert Demand.of_lines(uuid7(), [("A", 1), ("B", 2), ("A", 3)]).quantities == {"A": 4, "B": 2}


@pytest.mark.parametrize("quantity", [0, -1])
def test_less_than_one_piece_is_a_permanent_error(quantity: int) -> None:
    with pytest.raises(InvalidQuantity, match=f"got {quantity} of 'A'") as caught:
        Demand.of_lines(uuid7(), [("A", quantity)])
    assert isinstance(caught.value, PermanentError)
