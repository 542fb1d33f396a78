"""One round over the outbox claims, sends one copy per consumer, and marks.

Invariant: a row is marked published only after the broker confirmed it for every consumer, or it was parked for one
that is held (flow_control). Killed at any line, the row is sent again when its lease ends, and the inbox absorbs the
copy.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta

import kombu
import structlog
from django.db import transaction

from baton_messaging.conf import baton
from baton_messaging.database.json_field import MAX_SHOWN_CHARS
from baton_messaging.dead_letters import RowIdentity, record_dead_letter, record_unreadable_row
from baton_messaging.errors import Undecodable, UnknownEvent
from baton_messaging.events import is_known
from baton_messaging.flow_control.holds import current_holds
from baton_messaging.flow_control.parking import park
from baton_messaging.messages.envelope import Envelope
from baton_messaging.messages.error_description import describe
from baton_messaging.messages.tracing import relayed
from baton_messaging.models import OutboxMessage
from baton_messaging.models.dead_letter import RELAY, Reason
from baton_messaging.relaying.bundles import BrokerTrouble, QueueTrouble, send_bundles
from baton_messaging.routing.subscriptions import subscriptions_of

log = structlog.get_logger(__name__)

REFUSED_AGAIN_AFTER = timedelta(seconds=30)  # a full queue or a release that is still being deployed needs a while


class Delivery:
    """What is to be sent of one row, and what came of it."""

    def __init__(self, row: OutboxMessage, envelope: Envelope, wanted: list[str]) -> None:
        self.row = row
        self.envelope = envelope
        self.wanted = wanted
        self.sent = set(row.sent_to)
        self.refusals: dict[str, Exception] = {}
        if not is_known(row.name):
            self.refusals[RELAY] = UnknownEvent(row.name)

    @property
    def open_consumers(self) -> list[str]:
        """Return the consumers that have no copy yet."""
        return [consumer for consumer in self.wanted if consumer not in self.sent]

    @property
    def is_complete(self) -> bool:
        """Tell whether every consumer has its copy."""
        return not self.refusals and not self.open_consumers


def send_outbox(producer: kombu.Producer) -> int:
    """Send what is due; return how many rows were claimed. Raises BrokerTrouble, with every unsent row given back."""
    config = baton()
    lease = timedelta(seconds=config.relay_lease_seconds)
    rows = OutboxMessage.objects.claim(limit=config.relay_batch_size, lease=lease)
    deliveries = list(_deliveries(rows))
    if any(row.is_anything_held for row in rows):
        _park_held(deliveries)
    try:
        for consumer, group in _by_consumer(deliveries).items():
            _send_group(consumer, group, producer)
    except BrokerTrouble:
        OutboxMessage.objects.release([delivery.row for delivery in deliveries if not delivery.is_complete])
        raise
    finally:
        _mark(deliveries)
    for delivery in deliveries:
        if delivery.refusals:
            _postpone_or_dead_letter(delivery)
    return len(rows)


def _deliveries(rows: list[OutboxMessage]) -> Iterator[Delivery]:
    """Read each row for itself: one that cannot be read is dead-lettered, and harms no other."""
    consumers = {name: [known.consumer for known in subscriptions_of(name)] for name in {row.name for row in rows}}
    for row in rows:
        try:
            envelope = row.envelope()
        except Undecodable as error:
            _dead_letter_unreadable(row, error)
        else:
            yield Delivery(row, envelope, consumers[row.name])


@transaction.atomic
def _dead_letter_unreadable(row: OutboxMessage, error: Undecodable) -> None:
    if not OutboxMessage.objects.of_claim([row]).select_for_update().exists():
        return  # another relay has it
    record_unreadable_row(
        RowIdentity(row.message_id, row.name, row.key),
        consumer=RELAY,
        raw=str(row.payload)[:MAX_SHOWN_CHARS],
        error=describe(error),
    )
    OutboxMessage.objects.mark_published({row: {*row.sent_to, RELAY}})


def _park_held(deliveries: Iterable[Delivery]) -> None:
    holds = current_holds()
    for consumer, group in _by_consumer(deliveries).items():
        held = [delivery for delivery in group if holds.on_envelope(consumer, delivery.envelope)]
        park(consumer, [delivery.envelope for delivery in held])
        for delivery in held:
            delivery.sent.add(consumer)


def _by_consumer(deliveries: Iterable[Delivery]) -> dict[str, list[Delivery]]:
    groups: dict[str, list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        for consumer in delivery.open_consumers:
            groups[consumer].append(delivery)
    return groups


def _send_group(consumer: str, group: list[Delivery], producer: kombu.Producer) -> None:
    refusals = send_bundles(consumer, [delivery.envelope for delivery in group], producer=producer)
    for delivery in group:
        refusal = refusals.get(delivery.row.message_id)
        if refusal is None:
            delivery.sent.add(consumer)
        else:
            delivery.refusals[consumer] = refusal


def _mark(deliveries: list[Delivery]) -> None:
    complete = {delivery.row: delivery.sent for delivery in deliveries if delivery.is_complete}
    if complete:
        OutboxMessage.objects.mark_published(complete)
        log.info("published", message_count=len(complete))
        relayed(delivery.envelope for delivery in deliveries if delivery.is_complete)


def _postpone_or_dead_letter(delivery: Delivery) -> None:
    """Let the row wait; after RELAY_MAX_SEND_FAILURES dead-letter the copies that were at fault themselves."""
    row, sent = delivery.row, set(delivery.sent)
    at_fault = any(not isinstance(error, QueueTrouble) for error in delivery.refusals.values())
    spent = row.send_failure_count + 1 >= baton().relay_max_send_failures
    with transaction.atomic():
        if not OutboxMessage.objects.of_claim([row]).select_for_update().exists():
            return  # another relay has it
        for consumer, error in delivery.refusals.items():
            if spent and not isinstance(error, QueueTrouble):
                reason = Reason.UNKNOWN_EVENT if isinstance(error, UnknownEvent) else Reason.UNROUTABLE
                record_dead_letter(
                    consumer=consumer,
                    envelope=delivery.envelope,
                    reason=reason,
                    error=describe(error),
                    attempt_count=row.send_failure_count + 1,
                )
                sent.add(consumer)
        if sent >= {*delivery.wanted, *delivery.refusals}:
            OutboxMessage.objects.mark_published({row: sent})
        else:
            errors = "; ".join(f"{consumer}: {error}" for consumer, error in delivery.refusals.items())
            row.postpone(sent_to=sorted(sent), delay=REFUSED_AGAIN_AFTER, error=errors, at_fault=at_fault)
    log.warning(
        "send_refused", message_id=str(row.message_id), consumers=sorted(delivery.refusals), dead_lettered=spent
    )
