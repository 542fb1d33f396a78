"""A scheduled task does housekeeping that comes again by itself.

A tick that fails, is killed or hits its limit is over, and the next one does its work. So it is acknowledged when it is
taken, unlike a consumer's message: given back, or dead-lettered, an hour without a database would leave a dead letter
per tick for a person to decide about. Its failure stands in the results and in the log.
"""

from collections.abc import Callable
from typing import Any

from celery import shared_task

__all__ = ["scheduled_task"]


def scheduled_task(
    name: str, *, soft_time_limit: int, time_limit: int
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Make a function a task for beat's schedule: ``@scheduled_task("orders.expire", …)``.

    *Shapes*. ``name``: "<app>.<what_it_does>"; the app names the queue. The function takes nothing; what it returns
    (JSON types) is kept among the results. When it runs is said in ``CELERY_BEAT_SCHEDULE``; give the entry an
    ``expires`` below its interval, so that one tick runs after an outage and not a flood.

    *Units*. Limits in seconds, below the interval: the soft one raises SoftTimeLimitExceeded in the function, the hard
    one ends the process.

    *Hazard*. A tick may be missed, or come twice at the same time: it must be safe to do both.
    """
    declared: Callable[[Callable[[], Any]], Callable[[], Any]] = shared_task(
        name=name, acks_late=False, soft_time_limit=soft_time_limit, time_limit=time_limit
    )
    return declared
