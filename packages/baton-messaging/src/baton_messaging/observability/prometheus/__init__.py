"""Metrics for Prometheus, read from database and broker at each scrape: right with any number of web processes.

Needs the extra ``prometheus``; importing this room does not, so that an app can contribute metrics unconditionally.
"""

from baton_messaging.observability.prometheus.sources import Source, contribute

__all__ = ["Source", "contribute"]
