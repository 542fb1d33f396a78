"""The app's configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OrdersConfig(AppConfig):
    """Orders, and what is heard of their dead letters."""

    name = "orders"
    verbose_name = _("Orders")

    def ready(self) -> None:
        """Connect the receivers and register the checks: importing does, and models must be there first."""
        from orders import receivers  # noqa: F401, PLC0415
        from orders.exports import checks  # noqa: F401, PLC0415
