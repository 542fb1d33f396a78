"""The inventory app: reserves stock for orders, and gives it back."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class InventoryConfig(AppConfig):
    """Consumer of orders, producer of the answer "reserved" or "rejected"."""

    name = "inventory"
    verbose_name = _("Inventory")
