"""Totals of each consumer since the first rollup: the counters of /metrics."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from baton_messaging.models.statistics import COUNTED, Minute, Total
from baton_messaging.observability.statistics.histogram import added


@dataclass
class Figures:
    """Counts of one consumer over some time."""

    processed_count: int = 0
    failed_count: int = 0
    retried_count: int = 0
    redelivered_count: int = 0
    dead_counts: Counter[str] = field(default_factory=Counter)
    duration_counts: list[int] = field(default_factory=list)
    lag_counts: list[int] = field(default_factory=list)
    duration_seconds: float = 0.0
    lag_seconds: float = 0.0

    @property
    def dead_count(self) -> int:
        """Return the deaths of all reasons."""
        return self.dead_counts.total()

    def add(self, other: "Figures") -> None:
        """Count the other's as well."""
        self.processed_count += other.processed_count
        self.failed_count += other.failed_count
        self.retried_count += other.retried_count
        self.redelivered_count += other.redelivered_count
        self.dead_counts.update(other.dead_counts)
        self.duration_counts = added(self.duration_counts, other.duration_counts)
        self.lag_counts = added(self.lag_counts, other.lag_counts)
        self.duration_seconds += other.duration_seconds
        self.lag_seconds += other.lag_seconds


def totals() -> dict[str, Figures]:
    """Return the figures by consumer. One statement, because between two a minute might be folded, and be missing."""
    columns = ("consumer", *COUNTED)
    found: dict[str, Figures] = {}
    for consumer, *values in Total.objects.values_list(*columns).union(
        Minute.objects.open().values_list(*columns), all=True
    ):
        found.setdefault(consumer, Figures()).add(figures_of(values))
    return found


def figures_of(values: Iterable[Any]) -> Figures:
    """Return a row's figures, from the values of COUNTED in that order."""
    named = dict(zip(COUNTED, values, strict=True))
    return Figures(**{**named, "dead_counts": Counter(named["dead_counts"])})
