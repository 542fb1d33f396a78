"""A plain or scheduled task whose own ``expires`` was over is counted, where the worker drops it.

Written by the worker's main process over a connection of its own that is closed at once, as interruptions are (F21).
What the broker dropped before a worker saw it is counted by the collector (dead_letters/intake/expiry.py).
"""

from typing import Any

import structlog
from celery.signals import task_revoked

from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.models.expiry import COUNT_UP
from baton_messaging.routing.subscriptions import subscription_named

log = structlog.get_logger(__name__)


@task_revoked.connect(dispatch_uid="baton_messaging.count_expired_task")
def count_expired_task(*, sender: Any, expired: bool, **_kwargs: Any) -> None:
    """Count it. A consumer's message is rejected instead, and becomes a dead letter (request.py)."""
    if not expired or subscription_named(sender.name) is not None:
        return
    try:
        with dedicated_connection() as own, own.cursor() as cursor:
            cursor.execute(COUNT_UP, [sender.name])
    except Exception as error:  # whatever it is: the count is lost, and nothing else
        log.warning("expiry_not_counted", task=sender.name, error_class=type(error).__name__)
