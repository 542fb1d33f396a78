"""Exports for /metrics: how many are in which state, and how long those of the last day took.

How often exports were built, ever, and how long that took, is in the figures of the consumer ``orders.build_export``.
"""

from collections.abc import Iterable
from typing import Final

from django.db import connection
from django.db.models import Count
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from orders.exports.models import Export
from orders.exports.states import ExportState

QUANTILES: Final = (0.5, 0.95, 1.0)
_DURATIONS: Final = """
    SELECT format, percentile_cont(%s::float8[]) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - started_at))
    FROM orders_export
    WHERE state IN ('ready', 'expired') AND finished_at >= statement_timestamp() - interval '1 day'
    GROUP BY format
"""


def export_metrics() -> Iterable[Metric]:
    """Read the figures: two queries."""
    states = GaugeMetricFamily("baton_exports", "Exports by state", labels=("state",))
    counts = dict(Export.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in ExportState.values:
        states.add_metric((state,), counts.get(state, 0))
    yield states
    text = "How long the exports finished in the last day took to build"
    durations = GaugeMetricFamily("baton_export_duration_seconds", text, labels=("format", "quantile"))
    with connection.cursor() as cursor:
        cursor.execute(_DURATIONS, [list(QUANTILES)])
        for file_format, seconds in cursor.fetchall():
            for quantile, value in zip(QUANTILES, seconds, strict=True):
                durations.add_metric((file_format, f"{quantile:g}"), value)
    yield durations
