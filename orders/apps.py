"""The app's configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OrdersConfig(AppConfig):
    """Orders, and what is heard of their dead letters."""

    name = "orders"
    verbose_name = _("Orders")

    def ready(self) -> None:
        """Connect the receivers, register the checks, what triage asks for, and the metrics."""
        from messaging.metrics import contribute  # noqa: PLC0415
        from orders import findings, receivers  # noqa: F401, PLC0415  (models exist only now)
        from orders.exports import checks  # noqa: F401, PLC0415
        from orders.exports.metrics import export_metrics  # noqa: PLC0415
        from orders.exports.triage import register_exports  # noqa: PLC0415
        from orders.triage import register_orders  # noqa: PLC0415

        register_orders()
        register_exports()
        contribute("exports", export_metrics)
