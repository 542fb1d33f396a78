"""The notifications app: tells customers by mail how their order is doing."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NotificationsConfig(AppConfig):
    """Consumer of orders and of inventory; produces nothing but mail."""

    name = "notifications"
    verbose_name = _("Notifications")
