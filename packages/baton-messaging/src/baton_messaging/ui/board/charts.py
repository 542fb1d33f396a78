"""Charts of the last hour and the last day: points of an SVG, with the same figures as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db.models import DateTimeField, F, Func, Sum, Value

from baton_messaging.models import Minute
from baton_messaging.observability.statistics.histogram import LAG_BOUNDS, quantile

WIDTH: Final = 600  # units of the SVG, not pixels: it grows with the page
HEIGHT: Final = 120
_ORIGIN: Final = datetime(2001, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Slot:
    """Some minutes together. ``lag_p95``: seconds, None when nothing was processed."""

    began_at: datetime
    processed_count: int = 0
    failed_count: int = 0
    lag_p95: float | None = None


@dataclass(frozen=True)
class Bar:
    """One slot in the drawing: what was processed from the ground up, what failed on top of it."""

    x: float
    width: float
    processed_y: float
    processed_height: float
    failed_y: float
    failed_height: float
    slot: Slot


@dataclass(frozen=True)
class Chart:
    """A period. ``unit_minutes``: how long a slot is."""

    key: str
    slots: Sequence[Slot]
    unit_minutes: int

    @property
    def max_count(self) -> int:
        """Return what the top of the chart stands for."""
        return max((slot.processed_count + slot.failed_count for slot in self.slots), default=0)

    @property
    def max_lag(self) -> float:
        """Return the seconds that the top of the lag's chart stands for."""
        return max((slot.lag_p95 or 0.0 for slot in self.slots), default=0.0)

    @property
    def processed_count(self) -> int:
        """Return the sum."""
        return sum(slot.processed_count for slot in self.slots)

    @property
    def failed_count(self) -> int:
        """Return the sum."""
        return sum(slot.failed_count for slot in self.slots)

    @property
    def bars(self) -> list[Bar]:
        """Return the drawing of the counts."""
        step, top = WIDTH / max(len(self.slots), 1), max(self.max_count, 1)
        return [_bar(slot, place * step, step * 0.8, HEIGHT / top) for place, slot in enumerate(self.slots)]

    @property
    def lag_points(self) -> list[tuple[float, float]]:
        """Return the middle of each slot in which something was processed, and its lag."""
        step, top = WIDTH / max(len(self.slots), 1), self.max_lag or 1.0
        return [
            (round((place + 0.5) * step, 1), round(HEIGHT * (1 - slot.lag_p95 / top), 1))
            for place, slot in enumerate(self.slots)
            if slot.lag_p95 is not None
        ]


def charts(now: datetime) -> list[Chart]:
    """Return the last hour by the minute, and the last day by the quarter of an hour: two queries."""
    return [_chart("hour", now, minutes=60, unit=1), _chart("day", now, minutes=24 * 60, unit=15)]


def _chart(key: str, now: datetime, *, minutes: int, unit: int) -> Chart:
    step = timedelta(minutes=unit)
    last = now - (now - _ORIGIN) % step
    first = last - timedelta(minutes=minutes) + step
    found = {row["slot"]: row for row in _rows(first, step)}
    count = minutes // unit
    return Chart(key, [_slot(first + place * step, found.get(first + place * step)) for place in range(count)], unit)


def _rows(first: datetime, step: timedelta) -> Any:
    slot = Func(Value(step), F("minute"), Value(_ORIGIN), function="date_bin", output_field=DateTimeField())
    lags = {f"lag_{place}": Sum(f"lag_counts__{place}") for place in range(len(LAG_BOUNDS) + 1)}
    sums = {"processed": Sum("processed_count"), "failed": Sum("failed_count"), "lag_sum": Sum("lag_seconds"), **lags}
    return Minute.objects.since(first).annotate(slot=slot).values("slot").order_by("slot").annotate(**sums)


def _slot(began_at: datetime, row: dict[str, Any] | None) -> Slot:
    if row is None:
        return Slot(began_at)
    lags = [row[f"lag_{place}"] or 0 for place in range(len(LAG_BOUNDS) + 1)]
    return Slot(began_at, row["processed"], row["failed"], quantile(0.95, lags, LAG_BOUNDS, total=row["lag_sum"]))


def _bar(slot: Slot, x: float, width: float, scale: float) -> Bar:
    processed, failed = slot.processed_count * scale, slot.failed_count * scale
    return Bar(
        x=round(x, 1),
        width=round(width, 1),
        processed_y=round(HEIGHT - processed, 1),
        processed_height=round(processed, 1),
        failed_y=round(HEIGHT - processed - failed, 1),
        failed_height=round(failed, 1),
        slot=slot,
    )
