"""The reconciler sends lost messages again: one tick, which beat's task, the command and the tests call."""

import random
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final
from uuid import UUID

import structlog

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.conf import baton
from baton_messaging.recovery.findings import Contradiction, findings
from baton_messaging.recovery.loss_rule import QueueState
from baton_messaging.recovery.losses import Loss, is_any_suspect, losses_of
from baton_messaging.recovery.queue_states import take_snapshot
from baton_messaging.recovery.resend import send_again
from baton_messaging.recovery.settlement import settle
from baton_messaging.routing.ownership import queue_of
from baton_messaging.routing.queues import UnknownQueue
from baton_messaging.routing.subscriptions import all_consumers

log = structlog.get_logger(__name__)

BATCH_SIZE: Final = 1_000  # messages sent again in one transaction
MAX_BATCHES: Final = 20  # per consumer and tick: an emptied broker is filled again step by step
BUDGET_SECONDS: Final = 30.0  # of the minute that a tick has; with millions unsettled the next one goes on


@dataclass
class Outcome:
    """What a tick did, counted by consumer. ``broker_error``: why the broker could not be asked."""

    settled_count: int = 0
    lost: dict[str, int] = field(default_factory=dict)
    sent_again: dict[str, int] = field(default_factory=dict)
    broker_error: str = ""
    findings: list[Contradiction] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Return what the log says."""
        return {
            "settled_count": self.settled_count,
            "lost_count": sum(self.lost.values()),
            "sent_again_count": sum(self.sent_again.values()),
            "finding_count": len(self.findings),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        found = [finding.as_dict() for finding in self.findings]
        return {**self.counts(), "lost": self.lost, "broker_error": self.broker_error, "findings": found}


def reconcile(*, dry_run: bool = False) -> Outcome:
    """Settle, send again what is lost, report what does not fit. With ``dry_run`` only look, and change nothing.

    When the broker cannot be asked nothing is sent: what is not seen to be lost is not lost.
    """
    outcome = Outcome(settled_count=0 if dry_run else settle())
    try:
        _recover(outcome, dry_run=dry_run)
    except BROKER_ERRORS as error:
        outcome.broker_error = type(error).__name__
        log.warning("reconciler_cannot_ask_broker", error_class=outcome.broker_error)
    outcome.findings = findings()
    for finding in outcome.findings:
        examples = ",".join(finding.examples)
        log.error("contradiction", what=str(finding.what), row_count=len(finding.keys), examples=examples)
    log.info("reconciled", dry_run=dry_run, **outcome.counts())
    return outcome


def _recover(outcome: Outcome, *, dry_run: bool) -> None:
    if not is_any_suspect():
        return
    deadline = monotonic() + BUDGET_SECONDS
    states, in_flight = take_snapshot([queue.name for queue in baton().queues])
    uncollected_count = max((state.uncollected_count for state in states.values()), default=0)
    if uncollected_count:
        log.warning("reconciler_waits_for_collector", uncollected_count=uncollected_count)
        return
    consumers = all_consumers()
    random.shuffle(consumers)  # no consumer is the one that the budget never reaches
    for consumer in consumers:
        if monotonic() > deadline:
            log.warning("reconciler_out_of_time", budget_seconds=BUDGET_SECONDS)
            return
        with suppress(UnknownQueue):
            _recover_one(
                outcome, consumer, states[queue_of(consumer).name], in_flight.get(consumer, set()), dry_run=dry_run
            )


def _recover_one(
    outcome: Outcome, consumer: str, state: QueueState, in_flight: Collection[UUID], *, dry_run: bool
) -> None:
    for _ in range(1 if dry_run else MAX_BATCHES):
        lost = losses_of(consumer, state, in_flight=in_flight, limit=BATCH_SIZE)
        if lost:
            _note(outcome, consumer, lost, sent_count=0 if dry_run else send_again(consumer, lost))
        if len(lost) < BATCH_SIZE:
            return


def _note(outcome: Outcome, consumer: str, lost: list[Loss], *, sent_count: int) -> None:
    outcome.lost[consumer] = outcome.lost.get(consumer, 0) + len(lost)
    outcome.sent_again[consumer] = outcome.sent_again.get(consumer, 0) + sent_count
    causes = {loss.proof for loss in lost}
    log.warning("sent_again", consumer=consumer, message_count=sent_count, causes=",".join(sorted(causes)))
