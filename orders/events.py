"""What this app tells the others. Ids and figures only: a message may be read by any operator, so no personal data.

A released event keeps its name, version and fields; a change of meaning is a new version.
"""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from baton_messaging.events import Event
from pydantic import BaseModel, ConfigDict


class Line(BaseModel):
    """One product of an order and how many of it."""

    model_config = ConfigDict(frozen=True)

    sku: str
    quantity: int


class OrderPlaced(Event, name="orders.order_placed", version=1, key="order_id"):
    """An order was accepted. ``placed_at`` is the moment of acceptance, which dates its sale."""

    order_id: UUID
    placed_at: datetime
    lines: tuple[Line, ...]
    total: Decimal
    currency: str


class OrderCancelled(Event, name="orders.order_cancelled", version=1, key="order_id"):
    """An order was cancelled before it was settled. ``placed_at`` says which day's sale is taken back."""

    order_id: UUID
    placed_at: datetime
    total: Decimal
    currency: str


class ExportRequested(Event, name="orders.export_requested", version=1, key="export_id"):
    """Somebody wants an export, or one has to be built again: a command to its one consumer."""

    export_id: UUID


class ExportReady(Event, name="orders.export_ready", version=1, key="export_id"):
    """An export's file is in place."""

    export_id: UUID
