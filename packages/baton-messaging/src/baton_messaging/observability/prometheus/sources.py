"""Sources of metrics: functions that each yield some families, with a fixed number of queries; and their labels.

An app adds its own in its ``metrics.py``: ``contribute("exports", export_metrics)``. A source that fails costs its own
figures only, and is named by ``baton_source_up``. Importing this needs no prometheus-client: apps do at every start.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from baton_messaging.routing.discovery import Registry
from baton_messaging.routing.ownership import queue_or_platforms

if TYPE_CHECKING:
    from prometheus_client import Metric

Read = Callable[[], Iterable["Metric"]]
CONSUMER_LABELS: Final = ("consumer", "queue", "owner")
QUEUE_LABELS: Final = ("queue", "owner")


@dataclass(frozen=True)
class Source:
    """Some metrics: what they are called together, and how they are read."""

    name: str
    read: Read


_contributed: Registry[str, Source] = Registry("metrics")


def contribute(name: str, read: Read) -> None:
    """Add an app's metrics to /metrics. The name is unique; a second call with it replaces the first."""
    _contributed.add(name, Source(name, read))


def contributed() -> list[Source]:
    """Return what the apps added, in name order."""
    return [source for _name, source in sorted(_contributed.all().items())]


def labels_of(consumer: str) -> tuple[str, str, str]:
    """Return the values of CONSUMER_LABELS: by its owner, an alert finds its addressee."""
    queue = queue_or_platforms(consumer)
    return consumer, queue.name, queue.owner.name
