"""What orders adds to /metrics."""

from baton_messaging.extend.metrics import contribute

from orders.exports.metrics import export_metrics

contribute("exports", export_metrics)
