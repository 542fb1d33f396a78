"""The inventory app: reserves stock for orders, and gives it back."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class InventoryConfig(AppConfig):
    """Consumer of orders, producer of the answer "reserved" or "rejected"."""

    name = "inventory"
    verbose_name = _("Inventory")

    def ready(self) -> None:
        """Contribute to what the reconciler reports."""
        from inventory import findings  # noqa: F401, PLC0415  (models exist only now)
