"""The figures for Prometheus, read from database and broker at each scrape: right with any number of web processes."""

from baton_messaging.observability.prometheus.sources import Source, contribute

__all__ = ["Source", "contribute"]
