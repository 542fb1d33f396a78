"""Declare a scheduled task: housekeeping that comes again by itself.

A tick that fails, is killed or hits its limit is over, and the next one does its work. So it is acknowledged when it is
taken, unlike a consumer's message: given back, or dead-lettered, an hour without a database would leave a dead letter
per tick for a person to decide about. Its failure stands in the results and in the log.
"""

from collections.abc import Callable
from typing import Any

from celery import shared_task


def scheduled_task(
    name: str, *, soft_time_limit: int, time_limit: int
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Make a function a task for the schedule of beat. Limits in seconds; it must be safe to repeat and to miss."""
    declared: Callable[[Callable[[], Any]], Callable[[], Any]] = shared_task(
        name=name, acks_late=False, soft_time_limit=soft_time_limit, time_limit=time_limit
    )
    return declared
