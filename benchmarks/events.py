"""One event for each way of consuming it; all three carry the same."""

from uuid import UUID

from baton_messaging.events import Event


class Single(Event, name="benchmarks.single", version=1, key="order_id"):
    order_id: UUID
    sku: str
    quantity: int


class Bundled(Event, name="benchmarks.bundled", version=1, key="order_id"):
    order_id: UUID
    sku: str
    quantity: int


class Listed(Event, name="benchmarks.listed", version=1, key="order_id"):
    order_id: UUID
    sku: str
    quantity: int


class Timed(Event, name="benchmarks.timed", version=1, key="order_id"):
    order_id: UUID
