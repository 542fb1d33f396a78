"""The stock that the order form shows is asked of the app that keeps it, by a port: ``ORDERS["AVAILABLE"]``.

It is a hint of this moment. An order is accepted without it, and the inventory decides.
"""

from collections.abc import Mapping

from django.conf import settings
from django.utils.module_loading import import_string


def available() -> Mapping[str, int]:
    """Return how many pieces can be ordered, by SKU. What is not in it has no limit that is known."""
    port = settings.ORDERS.get("AVAILABLE")
    return dict(import_string(port)()) if port else {}
