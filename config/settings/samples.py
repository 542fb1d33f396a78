"""What the sample apps are told. It goes with them: docs/replace-the-samples.md."""

from email.utils import parseaddr
from typing import Any

from celery.schedules import crontab
from django.conf import global_settings

from config.env import env
from config.settings.celery import CELERY_BEAT_SCHEDULE as _BATONS
from orders.exports.settings import exports_settings, exports_storage

# --- orders ----------------------------------------------------------------------------------------------------------
ORDERS: dict[str, Any] = {
    "PER_EMAIL": env.ORDERS_PER_EMAIL,
    "PER_CLIENT": env.ORDERS_PER_CLIENT,
    "CONFIRM_WITHIN_SECONDS": env.ORDERS_CONFIRM_WITHIN_SECONDS,
    "FREE_ON_LOOPBACK": env.DJANGO_DEBUG,
    "AVAILABLE": "inventory.services.available",  # a port: what is left, for the order form; without it none is shown
    "CLIENT_ADDRESS": "config.web.client_address.client_address",  # a port, as those of notifications below
}
_EXPORTED_FILES = env.BATON_STATE_DIR / "exports"
EXPORTS = exports_settings(_EXPORTED_FILES)
STORAGES = {**global_settings.STORAGES, "exports": exports_storage(_EXPORTED_FILES)}
LOGIN_REDIRECT_URL = "exports:exports"  # the page that people log in for
CELERY_BEAT_SCHEDULE = {
    **_BATONS,
    # Often, because it is what an export of a killed worker waits for; expired ticks are dropped (F78).
    "take_up_exports": {"task": "orders.take_up_exports", "schedule": 10.0, "options": {"expires": 10}},
    "forget_counts": {"task": "orders.forget_counts", "schedule": crontab(minute="*/5"), "options": {"expires": 240}},
    "expire_exports": {"task": "orders.expire_exports", "schedule": crontab(minute="*/5"), "options": {"expires": 240}},
}

# --- notifications: its ports, answered by orders, since apps do not import each other (docs/decisions/) -------------
NOTIFICATIONS_ORDER_DETAILS = "orders.details.order_details"
NOTIFICATIONS_EXPORT_DETAILS = "orders.exports.details.export_details"
# The right-hand side of every Message-ID. It must not change between two attempts at the same mail.
NOTIFICATIONS_MESSAGE_ID_DOMAIN = parseaddr(env.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2]
