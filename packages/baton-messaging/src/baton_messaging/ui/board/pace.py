"""The pace of each consumer of late, from the figures per minute: its rate, how long it takes, how often it failed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Sum

from baton_messaging.models import Minute
from baton_messaging.observability.statistics.histogram import DURATION_BOUNDS, LAG_BOUNDS, quantile

RATE_MINUTES: Final = 5  # a rate over less would jump, over more would be late
PERIOD: Final = timedelta(hours=1)


@dataclass(frozen=True)
class Pace:
    """Of the last hour, but the rate: of the last five minutes. Durations are seconds, None when nothing was done."""

    rate_per_minute: float = 0.0
    processed_count: int = 0
    failed_count: int = 0
    duration_p50: float | None = None
    duration_p95: float | None = None
    lag_p50: float | None = None
    lag_p95: float | None = None


def paces(now: datetime) -> dict[str, Pace]:
    """Return the pace of every consumer that did something: two queries."""
    rate_from = now.replace(second=0, microsecond=0) - timedelta(minutes=RATE_MINUTES)
    # The minute that has just begun is not counted: it would always look slow.
    recent = Minute.objects.since(rate_from).filter(minute__lt=now.replace(second=0, microsecond=0))
    rates = dict(recent.values_list("consumer").order_by("consumer").annotate(Sum("processed_count")))
    sums = {
        "processed": Sum("processed_count"),
        "failed": Sum("failed_count"),
        "duration_sum": Sum("duration_seconds"),
        "lag_sum": Sum("lag_seconds"),
        **{f"duration_{place}": Sum(f"duration_counts__{place}") for place in range(len(DURATION_BOUNDS) + 1)},
        **{f"lag_{place}": Sum(f"lag_counts__{place}") for place in range(len(LAG_BOUNDS) + 1)},
    }
    rows: Any = Minute.objects.since(now - PERIOD).order_by("consumer").values("consumer").annotate(**sums)
    return {row["consumer"]: _pace(row, rates.get(row["consumer"], 0) / RATE_MINUTES) for row in rows}


def _pace(row: dict[str, Any], rate: float) -> Pace:
    durations = [row[f"duration_{place}"] or 0 for place in range(len(DURATION_BOUNDS) + 1)]
    lags = [row[f"lag_{place}"] or 0 for place in range(len(LAG_BOUNDS) + 1)]
    return Pace(
        rate_per_minute=rate,
        processed_count=row["processed"] or 0,
        failed_count=row["failed"] or 0,
        duration_p50=quantile(0.5, durations, DURATION_BOUNDS, total=row["duration_sum"]),
        duration_p95=quantile(0.95, durations, DURATION_BOUNDS, total=row["duration_sum"]),
        lag_p50=quantile(0.5, lags, LAG_BOUNDS, total=row["lag_sum"]),
        lag_p95=quantile(0.95, lags, LAG_BOUNDS, total=row["lag_sum"]),
    )
