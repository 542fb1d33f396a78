"""Reconciliation after a loss: `manage.py reconcile` runs, as beat lets it run, until all messages are settled."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from baton_messaging.models import OutboxMessage

from baton_dev.testing.processes import Process, manage_command, wait_until

TICK_SECONDS = 3
Start = Callable[[str, list[str]], Process]


@dataclass
class Reconciliation:
    """What became of it: how often the reconciler ran, how many messages it sent again, its last report."""

    seconds: float = 0.0
    tick_count: int = 0
    sent_again_count: int = 0
    last: dict[str, Any] = field(default_factory=dict)


def unsettled_count() -> int:
    """Return how many messages have not been settled by all of their consumers."""
    return OutboxMessage.objects.filter(settled_at__isnull=True).count()


def reconcile_until_settled(start: Start, *, seconds: float) -> Reconciliation:
    """Run the reconciler every few seconds until nothing is unsettled, or time is up. ``start`` starts a process."""
    began, found = time.monotonic(), Reconciliation()
    while unsettled_count() and time.monotonic() - began < seconds:
        found.tick_count += 1
        found.last = _tick(start, found.tick_count)
        found.sent_again_count += found.last["sent_again_count"]
        with suppress(AssertionError):  # then the next tick
            wait_until(lambda: not unsettled_count(), seconds=TICK_SECONDS)
    found.seconds = time.monotonic() - began
    return found


def _tick(start: Start, number: int) -> dict[str, Any]:
    process = start(f"reconcile-{number}", manage_command("reconcile", "--format", "json"))
    wait_until(lambda: process.exit_code is not None, seconds=60, what="the end of the tick")
    output = process.output()
    assert process.exit_code == 0, output
    report: dict[str, Any] = json.loads(output[output.index("{\n") : output.rindex("\n}") + 2])
    return report
