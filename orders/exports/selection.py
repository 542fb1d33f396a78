"""Which orders an export holds, as data: kept in the export's row, so that a worker and a retry select the same.

Days are days of the project's time zone, both ends included.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from orders.exports.errors import UnsupportedFilter
from orders.models import Order, OrderQuerySet, OrderStatus
from orders.search import search

MAX_PICKED = 1_000  # orders picked one by one in the admin, which shows 100 a page
MAX_SEARCH_LENGTH = 200  # characters

# What the admin's list of orders can be narrowed down by, and the field here that stands for it.
_LIST_FILTERS = {
    "status__exact": "status",
    "needs_attention__exact": "needs_attention",
    "language__exact": "language",
    "placed_at__gte": "placed_from",
    "placed_at__lt": "placed_before",
    "q": "search",
}

# A day that Excel can write, and whose end is a moment that Python can.
Day = Annotated[datetime.date, Field(ge=datetime.date(1900, 1, 1), le=datetime.date(2999, 12, 31))]


class Period(BaseModel):
    """Days, both included, and a status: what the form and the API take."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, hide_input_in_errors=True)

    from_day: Annotated[Day | None, Field(alias="from", description="First day, such as 2026-01-31.")] = None
    to_day: Annotated[Day | None, Field(alias="to", description="Last day.")] = None
    status: Annotated[OrderStatus | None, Field(description="Only orders with this status.")] = None

    @model_validator(mode="after")
    def _begins_before_it_ends(self) -> Self:
        if self.from_day and self.to_day and self.from_day > self.to_day:
            raise PydanticCustomError("period", "Expected a period that begins before it ends.")
        return self


class Selection(Period):
    """Orders by any of these, all of which must hold. Nothing given: all orders."""

    needs_attention: bool | None = None
    language: Annotated[str | None, Field(pattern="^[a-z-]{1,10}$")] = None
    placed_from: AwareDatetime | None = None
    placed_before: AwareDatetime | None = None
    search: Annotated[str | None, Field(max_length=MAX_SEARCH_LENGTH, pattern=r"^[^\x00]*$")] = None
    order_ids: Annotated[tuple[UUID, ...] | None, Field(max_length=MAX_PICKED)] = None

    @classmethod
    def of_list(cls, filters: Mapping[str, Sequence[str]]) -> Self:
        """Return what the admin's list shows. Raises UnsupportedFilter, so that no filter is silently dropped."""
        for name, values in filters.items():
            if name not in _LIST_FILTERS or len(values) != 1:  # the list takes several values for "any of these"
                raise UnsupportedFilter(name)
        return cls.model_validate({_LIST_FILTERS[name]: values[0] for name, values in filters.items()})

    @classmethod
    def of_orders(cls, order_ids: tuple[UUID, ...]) -> Self:
        """Return orders that were picked one by one."""
        return cls(order_ids=order_ids)

    def stored(self) -> dict[str, Any]:
        """Return it as JSON types for the export's row."""
        return self.model_dump(mode="json", exclude_none=True)

    def orders(self) -> OrderQuerySet:
        """Return the orders, in no particular order."""
        orders = Order.objects.order_by().filter(self._period(), self._marks(), self._picked())
        return search(orders, self.search) if self.search else orders

    def _period(self) -> Q:
        condition = Q()
        if self.from_day:
            condition &= Q(placed_at__gte=_start_of(self.from_day))
        if self.to_day:
            condition &= Q(placed_at__lt=_start_of(self.to_day + datetime.timedelta(days=1)))
        if self.placed_from:
            condition &= Q(placed_at__gte=self.placed_from)
        if self.placed_before:
            condition &= Q(placed_at__lt=self.placed_before)
        return condition

    def _marks(self) -> Q:
        given = {"status": self.status, "needs_attention": self.needs_attention, "language": self.language}
        return Q(**{name: value for name, value in given.items() if value is not None})

    def _picked(self) -> Q:
        return Q() if self.order_ids is None else Q(pk__in=self.order_ids)


def _start_of(day: datetime.date) -> datetime.datetime:
    return timezone.make_aware(datetime.datetime.combine(day, datetime.time.min))
