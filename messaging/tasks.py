"""Housekeeping, on the queue ``messaging``. Beat may miss a tick or send it twice: each task is safe to repeat."""

import structlog
from celery import shared_task

from messaging import pruning

log = structlog.get_logger(__name__)


@shared_task(name="messaging.prune", soft_time_limit=240, time_limit=270)  # seconds; the next tick goes on
def prune() -> dict[str, int]:
    """Delete outbox, inbox, attempt and result rows that are past their retention."""
    counts = pruning.prune()
    log.info("pruned", **counts)
    return counts
