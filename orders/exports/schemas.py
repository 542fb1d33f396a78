"""The JSON of exports, as the OpenAPI document shows it. A stable public surface: scripts hold on to these names."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from orders.exports.selection import Period, Selection

State = Literal["queued", "running", "ready", "failed", "cancelled", "expired"]


class ExportIn(Period):
    """An export to make: the orders placed within a period, both days included, in the project's time zone."""

    model_config = ConfigDict(populate_by_name=False)  # one name for each field is enough

    format: Annotated[Literal["csv", "xlsx"], Field(examples=["csv"])]

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
