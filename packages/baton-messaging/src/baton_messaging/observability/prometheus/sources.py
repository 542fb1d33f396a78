"""Where metrics come from: functions that each yield some families, with a fixed number of queries.

An app adds its own in its ``metrics.py``: ``contribute("exports", export_metrics)``. A source that fails costs its own
figures only, and is named by ``baton_source_up``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from prometheus_client import Metric

from baton_messaging.routing.discovery import discover

Read = Callable[[], Iterable[Metric]]


@dataclass(frozen=True)
class Source:
    """Some metrics: what they are called together, and how they are read."""

    name: str
    read: Read


_contributed: dict[str, Source] = {}


def contribute(name: str, read: Read) -> None:
    """Add an app's metrics to /metrics. The name is unique; a second call with it replaces the first."""
    _contributed[name] = Source(name, read)


def contributed() -> list[Source]:
    """Return what the apps added, in name order."""
    discover("metrics")
    return [source for _name, source in sorted(_contributed.items())]
