"""What orders adds to /metrics."""

from baton_messaging.observability.prometheus import contribute

from orders.exports.metrics import export_metrics

contribute("exports", export_metrics)
