"""One round over the retries sends those that are due, by the same door as new messages."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta

import kombu
import structlog
from django.db import transaction
from django.utils import timezone

from baton_messaging.broker.errors import UnroutableMessage
from baton_messaging.conf import baton
from baton_messaging.database.json_field import MAX_SHOWN_CHARS
from baton_messaging.dead_letters import RowIdentity, record_dead_letter, record_unreadable_row
from baton_messaging.errors import Undecodable
from baton_messaging.flow_control.probes import tend
from baton_messaging.messages.envelope import Envelope
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
    readable = dict(_readable(group))
    refusals = send_bundles(consumer, list(readable.values()), producer=producer)
    sent = [attempt for attempt in readable if attempt.message_id not in refusals]
    Attempt.objects.mark_sent(sent)
    log.info("retries_sent", consumer=consumer, message_count=len(sent))
    for attempt, envelope in readable.items():
        error = refusals.get(attempt.message_id)
        if error is not None and not _may_pass(attempt, error):
            _dead_letter(attempt, envelope, error)


def _readable(group: list[Attempt]) -> Iterator[tuple[Attempt, Envelope]]:
    """Read each row for itself: one that cannot be read is dead-lettered, and harms no other."""
    for attempt in group:
        try:
            yield attempt, attempt.open_envelope()
        except Undecodable as error:
            _dead_letter_unreadable(attempt, error)


def _may_pass(attempt: Attempt, error: Exception) -> bool:
    """Tell whether to ask again when the lease ends: a consumer that is gone will not come back, a queue may."""
    if isinstance(error, UnroutableMessage):
        config = baton()
        deadline = attempt.due_at + timedelta(seconds=config.relay_max_send_failures * config.relay_lease_seconds)
        return timezone.now() < deadline
    return isinstance(error, QueueTrouble)


@transaction.atomic
def _dead_letter(attempt: Attempt, envelope: Envelope, error: Exception) -> None:
    if not Attempt.objects.mark_sent([attempt]):
        return  # another relay has it
    record_dead_letter(
        consumer=attempt.consumer,
        envelope=envelope,
        reason=Reason.UNROUTABLE,
        error=describe(error),
        attempt_count=attempt.attempt,
    )


@transaction.atomic
def _dead_letter_unreadable(attempt: Attempt, error: Undecodable) -> None:
    if not Attempt.objects.mark_sent([attempt]):
        return  # another relay has it
    record_unreadable_row(
        RowIdentity(attempt.message_id, "", attempt.key),
        consumer=attempt.consumer,
        raw=str(attempt.envelope)[:MAX_SHOWN_CHARS],
        error=describe(error),
        attempt_count=attempt.attempt,
    )
