"""What parcels add to /metrics."""

from collections.abc import Iterator

from baton_messaging.extend.metrics import contribute
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from tests.parcels.models import Parcel


def parcel_metrics() -> Iterator[Metric]:
    """Tell how many parcels are on their way, and how many were shipped."""
    family = GaugeMetricFamily("parcels", "Parcels by state", labels=("state",))
    for state, is_shipped in (("on its way", False), ("shipped", True)):
        family.add_metric([state], Parcel.objects.filter(is_shipped=is_shipped).count())
    yield family


contribute("parcels", parcel_metrics)
