"""Messages in every situation that the reconciler must tell apart."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from baton_dev.testing.drain import empty_queues, forget_unacked
from baton_messaging.dead_letters.intake.record import record_dead_letter
from baton_messaging.messages.error_description import fault
from baton_messaging.models import Attempt, Heartbeat, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.publish import publish
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries
from celery import current_app
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from tests.sample.events import Sampled

CONSUMER = "sample.take_one"


def send(count: int = 1, *, age_seconds: float = 300) -> list[OutboxMessage]:
    """Publish messages, let the relay send them, and make that ``age_seconds`` ago."""
    with transaction.atomic():
        publish(*(Sampled(sample_id=uuid4()) for _ in range(count)))
    with current_app.connection_for_write() as broker:
        send_outbox(current_app.amqp.Producer(broker, auto_declare=False))
    rows = list(OutboxMessage.objects.order_by("-pk")[:count])[::-1]
    OutboxMessage.objects.filter(pk__in=[row.pk for row in rows]).update(
        published_at=Now() - timedelta(seconds=age_seconds)
    )
    return rows


def lose() -> None:
    """Empty the broker."""
    empty_queues()
    forget_unacked()


def relay_retries() -> int:
    """Let the relay send what is due."""
    with current_app.connection_for_write() as broker:
        return send_retries(current_app.amqp.Producer(broker, auto_declare=False))


def process(rows: Sequence[OutboxMessage], consumer: str = CONSUMER) -> None:
    """Write the inbox rows."""
    ids = [row.message_id for row in rows]
    ProcessedMessage.objects.claim(consumer=consumer, message_ids=ids, worker="w")


def fail(row: OutboxMessage, *, sent: bool, age_seconds: float = 300, attempt: int = 1) -> Attempt:
    """Write a failed attempt whose retry was sent, or waits."""
    return Attempt.objects.create(
        message_id=row.message_id,
        consumer=CONSUMER,
        attempt=attempt,
        key=row.key,
        envelope=row.envelope().as_dict(),
        error_class="TimeoutError",
        due_at=Now(),
        sent_at=Now() - timedelta(seconds=age_seconds) if sent else None,
    )


def die(row: OutboxMessage) -> None:
    """Put the message on the list of dead letters."""
    with transaction.atomic():
        record_dead_letter(
            consumer=CONSUMER,
            envelope=row.envelope(),
            reason=Reason.PERMANENT_ERROR,
            error=fault("Broken", "no"),
            attempt_count=1,
        )


def age_retries(seconds: float) -> None:
    """Make the retries that were sent older."""
    Attempt.objects.exclude(sent_at=None).update(sent_at=F("sent_at") - timedelta(seconds=seconds))


def hold(message_ids: Sequence[UUID], *, beaten_seconds_ago: float = 0, **columns: Any) -> Heartbeat:
    """Let a worker say that it has messages in flight."""
    in_flight = {"consumer": CONSUMER, "message_ids": [str(one) for one in message_ids], "started_at": None}
    values: dict[str, Any] = {
        "role": "worker",
        "hostname": "host",
        "pid": 1,
        "started_at": Now(),
        "beaten_at": Now() - timedelta(seconds=beaten_seconds_ago),
        "queues": ["sample"],
        "is_consuming": True,
        "reserved": [in_flight],
        **columns,
    }
    return Heartbeat.objects.create(name=f"sample-{uuid4()}@host", **values)
