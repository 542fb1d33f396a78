"""One round over the retries sends those that are due, by the same door as new messages."""

from collections import defaultdict
from datetime import timedelta

import kombu
import structlog
from django.db import transaction
from django.utils import timezone

from baton_messaging.broker.errors import UnroutableMessage
from baton_messaging.conf import baton
from baton_messaging.dead_letters import record_dead_letter
from baton_messaging.flow_control.probes import tend
from baton_messaging.messages.error_description import describe
from baton_messaging.models import Attempt
from baton_messaging.models.dead_letter import Reason
from baton_messaging.relaying.bundles import BrokerTrouble, QueueTrouble, send_bundles

log = structlog.get_logger(__name__)


def send_retries(producer: kombu.Producer) -> int:
    """Send the retries that are due and that nothing holds; return how much there was to do.

    Raises BrokerTrouble, with all unsent given back.
    """
    config = baton()
    lease = timedelta(seconds=config.relay_lease_seconds)
    due, is_circuit_open = Attempt.objects.claim_due(limit=config.relay_batch_size, lease=lease)
    groups: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in due:
        groups[attempt.consumer].append(attempt)
    unsent = set(due)
    try:
        for consumer, group in groups.items():
            _send_group(consumer, group, producer)
            unsent -= set(group)
    except BrokerTrouble:
        Attempt.objects.release(unsent)
        raise
    return len(due) + (tend() if is_circuit_open else 0)


def _send_group(consumer: str, group: list[Attempt], producer: kombu.Producer) -> None:
    refusals = send_bundles(consumer, [attempt.open_envelope() for attempt in group], producer=producer)
    sent = [attempt for attempt in group if attempt.message_id not in refusals]
    Attempt.objects.mark_sent(sent)
    log.info("retries_sent", consumer=consumer, message_count=len(sent))
    for attempt in group:
        error = refusals.get(attempt.message_id)
        if error is not None and not _may_pass(attempt, error):
            _dead_letter(attempt, error)


def _may_pass(attempt: Attempt, error: Exception) -> bool:
    """Tell whether to ask again when the lease ends: a consumer that is gone will not come back, a queue may."""
    if isinstance(error, UnroutableMessage):
        config = baton()
        deadline = attempt.due_at + timedelta(seconds=config.relay_max_send_failures * config.relay_lease_seconds)
        return timezone.now() < deadline
    return isinstance(error, QueueTrouble)


def _dead_letter(attempt: Attempt, error: Exception) -> None:
    with transaction.atomic():
        if not Attempt.objects.mark_sent([attempt]):
            return  # another relay has it
        record_dead_letter(
            consumer=attempt.consumer,
            envelope=attempt.open_envelope(),
            reason=Reason.UNROUTABLE,
            error=describe(error),
            attempt_count=attempt.attempt,
        )
