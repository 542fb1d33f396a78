"""What orders adds to /metrics."""

from messaging.metrics import contribute
from orders.exports.metrics import export_metrics

contribute("exports", export_metrics)
