"""Consumers that are not as they should be: without a worker, without a queue, slow, too slow."""

import time
from contextlib import suppress

from baton_messaging.consumer import consumer
from celery.exceptions import SoftTimeLimitExceeded

from tests.blame.events import Hurried, Laned, Lingered, Misfit
from tests.blame.queues import LANE, ODD


@consumer(Laned, queue=LANE)
def take_lane(event: Laned) -> None:
    """Never run: no worker consumes the lane."""


@consumer(Misfit, queue=ODD)
def take_odd(event: Misfit) -> None:
    """Never run: the broker refuses the queue."""


@consumer(Hurried, soft_time_limit=1, time_limit=2)
def hurry(event: Hurried) -> None:
    """Take a minute, which is too long; "hang_on" swallows the soft limit, so that the hard one ends the process."""
    while event.behaviour == "hang_on":
        with suppress(SoftTimeLimitExceeded):
            time.sleep(60)
    time.sleep(60)


@consumer(Lingered)
def linger(event: Lingered) -> None:
    """Take some seconds."""
    time.sleep(event.seconds)
