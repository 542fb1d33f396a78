"""From commit to handler, with nothing else to do: how long does one message take?"""

import random
import time
from statistics import quantiles

from baton_messaging.publish import publish
from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from benchmarks.events import Timed
from benchmarks.models import Timing
from benchmarks.processes import wait_until
from benchmarks.report import Check, Figure, Section
from benchmarks.stage import Stage

MAX_MEDIAN_MS = 50.0
GAP_SECONDS = (0.05, 0.15)  # between two messages: long enough that all have gone back to sleep


def measure(stage: Stage, *, message_count: int) -> Section:
    """Publish messages one by one to a relay and a worker that have nothing else to do."""
    with stage.relay.resumed(), stage.baton.resumed():
        _milliseconds()  # the first one opens connections
        samples = sorted(_milliseconds() for _ in range(message_count))
    ranks = quantiles(samples, n=20, method="inclusive")
    return Section(
        f"latency: from commit to the handler's first line, idle, {message_count} messages",
        [
            Figure("median", [ranks[9]], "ms"),
            Figure("95 %", [ranks[18]], "ms"),
            Figure("least", [samples[0]], "ms"),
            Figure("most", [samples[-1]], "ms"),
        ],
        [Check("median", ranks[9], MAX_MEDIAN_MS, "ms", at_most=True)],
    )


def _milliseconds() -> float:
    order_id = uuid7()
    with transaction.atomic():
        publish(Timed(order_id=order_id))
    committed_at = timezone.now()
    wait_until(lambda: Timing.objects.filter(order_id=order_id).exists(), what="the handler")
    time.sleep(random.uniform(*GAP_SECONDS))
    return (Timing.objects.get(order_id=order_id).handled_at - committed_at).total_seconds() * 1000
