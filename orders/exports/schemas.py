"""The JSON of exports, as the OpenAPI document shows it. A stable public surface: scripts hold on to these names."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from orders.exports.selection import Day, Selection
from orders.models import OrderStatus

State = Literal["queued", "running", "ready", "failed", "cancelled", "expired"]


class ExportIn(BaseModel):
    """An export to make: the orders placed within a period, both days included, in the project's time zone."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    format: Annotated[Literal["csv", "xlsx"], Field(examples=["csv"])]
    from_day: Annotated[Day | None, Field(alias="from", description="First day, such as 2026-01-31.")] = None
    to_day: Annotated[Day | None, Field(alias="to", description="Last day.")] = None
    status: Annotated[OrderStatus | None, Field(description="Only orders with this status.")] = None

    @model_validator(mode="after")
    def _begins_before_it_ends(self) -> Self:
        if self.from_day and self.to_day and self.from_day > self.to_day:
            raise PydanticCustomError("period", "Expected a period that begins before it ends.")
        return self

    def to_selection(self) -> Selection:
        """Return which orders are meant."""
        return Selection(from_day=self.from_day, to_day=self.to_day, status=self.status)


class ExportAnswer(BaseModel):
    """What was accepted, and where to see how far it got."""

    export_id: UUID
    status_url: str


class ExportOut(BaseModel):
    """How far an export got. ``rows_total`` is null until the rows are counted, ``download_url`` until it is ready."""

    export_id: UUID
    state: State
    rows_done: int
    rows_total: int | None
    percent: Annotated[int, Field(ge=0, le=100, description="100 only when the whole file is, or was, there.")]
    download_url: str | None
    error: str | None
