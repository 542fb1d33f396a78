"""An allocation decides all-or-nothing per order, in message order, from the pieces that are left.

Pure: no database. Invariant: what is promised for a SKU never exceeds what was available of it. Hazard: the answer
holds only while the caller keeps the stock rows locked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self
from uuid import UUID

from inventory.errors import InvalidQuantity


@dataclass(frozen=True)
class Demand:
    """What one order asks for: pieces per SKU."""

    order_id: UUID
    quantities: Mapping[str, int]

    @classmethod
    def of_lines(cls, order_id: UUID, lines: Iterable[tuple[str, int]]) -> Self:
        """Sum up (SKU, quantity) lines. Raises InvalidQuantity below one piece."""
        quantities: dict[str, int] = {}
        for sku, quantity in lines:
            if quantity < 1:
                raise InvalidQuantity(order_id, sku, quantity)
            quantities[sku] = quantities.get(sku, 0) + quantity
        return cls(order_id, quantities)


@dataclass
class Allocation:
    """The outcome for a bundle: the demands that are met, and what the others were short of."""

    reserved: list[Demand] = field(default_factory=list)
    short_skus: dict[UUID, tuple[str, ...]] = field(default_factory=dict)

    @property
    def taken(self) -> dict[str, int]:
        """Return the pieces per SKU that the reserved orders take together."""
        taken: dict[str, int] = {}
        for demand in self.reserved:
            for sku, quantity in demand.quantities.items():
                taken[sku] = taken.get(sku, 0) + quantity
        return taken


def allocate(demands: Sequence[Demand], available: Mapping[str, int]) -> Allocation:
    """Give each demand all it asks for or nothing, first come first served. An unknown SKU has 0 pieces.

    >>> first, second = Demand(UUID(int=1), {"MUG": 2}), Demand(UUID(int=2), {"MUG": 1, "TEA": 1})
    >>> allocate([first, second], {"MUG": 2, "TEA": 5}).short_skus
    {UUID('00000000-0000-0000-0000-000000000002'): ('MUG',)}
    """
    left = dict(available)
    outcome = Allocation()
    for demand in demands:
        short = tuple(sorted(sku for sku, quantity in demand.quantities.items() if quantity > left.get(sku, 0)))
        if short:
            outcome.short_skus[demand.order_id] = short
            continue
        outcome.reserved.append(demand)
        for sku, quantity in demand.quantities.items():
            left[sku] -= quantity
    return outcome
