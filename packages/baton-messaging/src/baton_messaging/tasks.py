"""Housekeeping, on the queue ``baton``. Beat may miss a tick or send it twice: each task is safe to repeat."""

import structlog

from baton_messaging.dead_letters.alerts import send_alerts
from baton_messaging.dead_letters.operations.groups import Group
from baton_messaging.dead_letters.operations.replay import advance
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.maintenance import pruning
from baton_messaging.observability.statistics.rollup import roll_up
from baton_messaging.recovery import reconciler
from baton_messaging.scheduled import scheduled_task

log = structlog.get_logger(__name__)


@scheduled_task("baton.prune", soft_time_limit=240, time_limit=270)  # the next tick goes on
def prune() -> dict[str, int]:
    """Delete outbox, inbox, attempt and result rows that are past their retention."""
    counts = pruning.prune()
    log.info("pruned", **counts)
    return counts


@scheduled_task("baton.tend_dead_letters", soft_time_limit=50, time_limit=55)  # a minute to the next tick
def tend_dead_letters() -> dict[str, int]:
    """Notice what took effect, let replays go on or stop, and tell owners what died."""
    resolved_count = resolve_applied(any_open=True)
    advance()
    counts = {"resolved": resolved_count, "alerts": send_alerts(cause_of=_cause_of)}
    if any(counts.values()):
        log.info("dead_letters_tended", **counts)
    return counts


def _cause_of(group: Group) -> Diagnosis | None:
    from baton_messaging.diagnosis.dead_letters import cause_now  # noqa: PLC0415 - no worker waits for it at start

    return cause_now(group)


@scheduled_task("baton.reconcile", soft_time_limit=50, time_limit=55)  # a minute to the next tick
def reconcile() -> dict[str, int]:
    """Send again what the broker has lost, and report what contradicts itself."""
    return reconciler.reconcile().counts()


@scheduled_task("baton.rollup", soft_time_limit=50, time_limit=55)  # a minute to the next tick
def rollup() -> int:
    """Count what the consumers did, per minute: for /metrics and the board's charts."""
    return roll_up()
