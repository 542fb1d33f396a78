"""Add figures to ``/metrics``: for an app's ``metrics.py``. Needs the extra ``prometheus``.

    contribute("exports", export_metrics)

*Shapes*. ``export_metrics() -> Iterable[prometheus_client.Metric]``: families that are read from the database at each
scrape, as ``GaugeMetricFamily("baton_exports", "Exports by state", labels=("state",))``. Nothing is counted in the
memory of a process: there are several, and any may be restarted.

*Returns*. Nothing. The name is unique: a second call with it replaces the first.

*Raises*. What the function raises costs its own figures only: ``baton_source_up{source="exports"}`` is 0 then.

*Hazard*. A scrape has a deadline that all share: a fixed number of queries, whatever the size of the tables.
"""

from baton_messaging.observability.prometheus.sources import contribute

__all__ = ["contribute"]
