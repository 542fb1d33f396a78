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
    """An order was cancelled before it was settled. ``placed_at`` says which day's sale is taken back.

    ``is_overdue``: nobody asked for it, the time to confirm it was over.
    """

    order_id: UUID
    placed_at: datetime
    total: Decimal
    currency: str
    is_overdue: bool = False


class ConfirmationOverdue(Event, name="orders.confirmation_overdue", version=1, key="order_id"):
    """The time in which an order is to be confirmed is over. Published for then, with the order."""

    order_id: UUID


class ExportRequested(Event, name="orders.export_requested", version=1, key="export_id"):
    """Somebody wants an export, or one has to be built again: a command to its one consumer."""

    export_id: UUID


class ExportExpiring(Event, name="orders.export_expiring", version=1, key="export_id"):
    """An export's file will be deleted before long. Published for then, with ExportReady."""

    export_id: UUID


class ExportReady(Event, name="orders.export_ready", version=1, key="export_id"):
    """An export's file is in place."""

    export_id: UUID
