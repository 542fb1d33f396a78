"""One scrape: every source once, each with a fixed number of queries."""

from collections.abc import Iterator
from typing import Final

import structlog
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST as CONTENT_TYPE
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from baton_messaging.database.errors import is_database_away
from baton_messaging.observability.prometheus.consumers import consumer_metrics
from baton_messaging.observability.prometheus.pipeline import (
    broker_metrics,
    held_metrics,
    outbox_metrics,
    process_metrics,
)
from baton_messaging.observability.prometheus.sources import Source, contributed

__all__ = ["CONTENT_TYPE", "Scrape", "exposition"]

log = structlog.get_logger(__name__)

OWN: Final = (
    Source("outbox", outbox_metrics),
    Source("broker", broker_metrics),
    Source("consumers", consumer_metrics),
    Source("held", held_metrics),
    Source("processes", process_metrics),
)


class Scrape(Collector):
    """Reads all sources when it is collected."""

    def collect(self) -> Iterator[Metric]:
        """Yield all families. A source that fails is left out, and named; without a database none is asked for long."""
        text = "1 if the figures of this kind could be read"
        answered = GaugeMetricFamily("baton_source_up", text, labels=("source",))
        is_database_up = True
        for source in (*OWN, *contributed()):
            try:
                found = list(source.read()) if is_database_up else []
            except Exception as error:  # whatever it is, the other figures are worth having
                is_database_up = not is_database_away(error)
                log.exception("metrics_source_failed", source=source.name)
                found = []
            answered.add_metric((source.name,), bool(found))
            yield from found
        yield answered
        yield GaugeMetricFamily("baton_database_up", "1 if the database answered", value=is_database_up)


def exposition() -> bytes:
    """Return the figures in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Scrape())
    return generate_latest(registry)
