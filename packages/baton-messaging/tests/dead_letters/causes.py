"""Every way a message can die, as something to do and what the list must say of it.

Runs on either broker: with TEST_BROKER_URL=amqp://… the same table is worked through on RabbitMQ.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from baton_dev.testing.processes import wait_until
from baton_messaging.conf import baton
from baton_messaging.events import Event
from baton_messaging.messages.envelope import Envelope, seal
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.publish import publish
from baton_messaging.routing.send import send_bundle
from celery import current_app
from django.db import transaction

from tests.sample.events import Doomed, Fleeting, Sampled


@dataclass(frozen=True)
class Cause:
    """``bring_about`` makes a message about the aggregate die; ``tells`` says whether the app can be told."""

    name: str
    bring_about: Callable[[UUID], None]
    reason: Reason
    error: str
    tells: bool = True
    consumer: str = "sample.die"


def place(*events: Event) -> list[UUID]:
    with transaction.atomic():
        return publish(*events)


def envelope_of(event: Event) -> Envelope:
    """Return the envelope of a message that nobody but the test sends."""
    with transaction.atomic():
        (message_id,) = publish(event)
        row = OutboxMessage.objects.get(message_id=message_id)
        row.delete()
    return row.envelope()


def behave(behaviour: str) -> Callable[[UUID], None]:
    return lambda key: (place(Doomed(sample_id=key, behaviour=behaviour)), None)[1]


def send_raw(body: str, *, task: str | None = "sample.die") -> None:
    """Publish something that the relay would not."""
    headers = {"task": task, "id": str(uuid4())} if task else {}
    with current_app.connection_for_write() as broker:
        producer = current_app.amqp.Producer(broker)
        options: dict[str, Any] = {"content_type": "application/json", "content_encoding": "utf-8"}
        producer.publish(body, exchange="tasks", routing_key="sample", headers=headers, **options)


def unknown_task(key: UUID) -> None:
    envelope = envelope_of(Doomed(sample_id=key))
    current_app.send_task("sample.renamed_v2", args=[[seal(envelope, to="sample.renamed_v2")]], queue="sample")


def forged(_key: UUID) -> None:
    send_bundle("sample.die", ["no signature at all"], message_ids=[])


def altered(key: UUID) -> None:
    sealed = seal(envelope_of(Doomed(sample_id=key)), to="sample.die")
    send_bundle("sample.die", [sealed.replace('"version":1', '"version":2')], message_ids=[])


def moved(event: Callable[..., Event]) -> Callable[[UUID], None]:
    """Take a genuine message for another consumer, and put it into the queue under our name."""

    def bring_about(key: UUID) -> None:
        send_bundle("sample.die", [seal(envelope_of(event(sample_id=key)), to="sample.take_one")], message_ids=[])

    return bring_about


def moved_event(key: UUID) -> None:
    """As one that a release has sent in which the consumer was another event's."""
    send_bundle("sample.die", [seal(envelope_of(Sampled(sample_id=key)), to="sample.die")], message_ids=[])


def sent_long_ago(key: UUID) -> None:
    old = time.time() - baton().inbox_retention_days * 86_400
    envelope = envelope_of(Doomed(sample_id=key))
    send_bundle("sample.die", [seal(envelope, to="sample.die", at=old)], message_ids=[envelope.message_id])


def no_bundle(argument: Any) -> Callable[[UUID], None]:
    def bring_about(_key: UUID) -> None:
        for _ in range(2):
            current_app.send_task("sample.die", args=[argument], queue="sample")

    return bring_about


def unknown_version(key: UUID) -> None:
    with transaction.atomic():
        publish(Doomed(sample_id=key))
        OutboxMessage.objects.filter(key=key).update(version=99)


def unroutable(key: UUID) -> None:
    envelope = envelope_of(Doomed(sample_id=key))
    Attempt.objects.create(
        message_id=envelope.message_id,
        consumer="nowhere.gone",
        attempt=1,
        key=envelope.key,
        envelope=envelope.as_dict(),
        error_class="E",
        due_at=envelope.occurred_at,
    )


def revoked(key: UUID) -> None:
    envelope = envelope_of(Doomed(sample_id=key))
    task_id = str(uuid4())
    replies = current_app.control.revoke(task_id, reply=True, timeout=30, limit=1)
    assert replies, "the worker did not answer"
    current_app.send_task("sample.die", args=[[seal(envelope, to="sample.die")]], queue="sample", task_id=task_id)


CAUSES = [
    Cause("retries spent", behave("transient"), Reason.RETRIES_SPENT, "baton_messaging.errors.TransientError"),
    Cause("permanent error", behave("permanent"), Reason.PERMANENT_ERROR, "baton_messaging.errors.PermanentError"),
    Cause("handler kills itself", behave("kill"), Reason.KILLED_WORKER, "WorkerLost"),
    Cause("soft limit", behave("hang"), Reason.TIME_LIMIT, "billiard.exceptions.SoftTimeLimitExceeded"),
    Cause("hard limit", behave("hang_on"), Reason.TIME_LIMIT, "TimeLimitExceeded"),
    Cause("MemoryError", behave("memory"), Reason.RETRIES_SPENT, "MemoryError"),
    Cause("unpicklable", behave("unpicklable"), Reason.PERMANENT_ERROR, "tests.sample.tasks.UnpicklableError"),
    Cause("row gone", behave("row_gone"), Reason.PERMANENT_ERROR, "tests.sample.models.Effect.DoesNotExist"),
    Cause("unknown task", unknown_task, Reason.UNKNOWN_TASK, "UnknownTask", consumer="sample.renamed_v2"),
    Cause("undecodable body", lambda _key: send_raw("{broken"), Reason.UNDECODABLE, "Undecodable", tells=False),
    Cause("body of another shape", lambda _key: send_raw("[1]"), Reason.UNDECODABLE, "Undecodable", tells=False),
    Cause(
        "no task at all",
        lambda _key: send_raw("{}", task=None),
        Reason.UNDECODABLE,
        "Undecodable",
        tells=False,
        consumer="sample.?",
    ),
    Cause("forged signature", forged, Reason.BAD_SIGNATURE, "baton_messaging.errors.BadSignature", tells=False),
    Cause("altered content", altered, Reason.BAD_SIGNATURE, "baton_messaging.errors.BadSignature", tells=False),
    Cause("moved here", moved(Doomed), Reason.MISDIRECTED, "baton_messaging.errors.Misdirected", tells=False),
    Cause("of another event", moved(Sampled), Reason.MISDIRECTED, "baton_messaging.errors.Misdirected", tells=False),
    Cause("of an event it had", moved_event, Reason.MISDIRECTED, "baton_messaging.errors.Misdirected"),
    Cause("sent long ago", sent_long_ago, Reason.TOO_OLD, "baton_messaging.errors.TooOld"),
    Cause("bundle of text", no_bundle("x" * 64), Reason.UNDECODABLE, "baton_messaging.errors.BadBundle", tells=False),
    Cause("no bundle", no_bundle([None]), Reason.UNDECODABLE, "baton_messaging.errors.BadBundle", tells=False),
    Cause(
        "too large a bundle",
        no_bundle(["junk"] * 20_000),
        Reason.UNDECODABLE,
        "baton_messaging.errors.BadBundle",
        tells=False,
    ),
    Cause(
        "bundle of junk",
        no_bundle([f"junk {number}" for number in range(500)]),
        Reason.BAD_SIGNATURE,
        "baton_messaging.errors.BadSignature",
        tells=False,
    ),
    Cause("unknown version", unknown_version, Reason.UNKNOWN_EVENT, "baton_messaging.errors.UnknownEvent"),
    Cause(
        "expired",
        lambda key: (place(Fleeting(sample_id=key)), None)[1],
        Reason.EXPIRED,
        "Expired",
        consumer="sample.catch",
    ),
    Cause("revoked", revoked, Reason.REVOKED, "Revoked"),
    Cause(
        "unroutable",
        unroutable,
        Reason.UNROUTABLE,
        "baton_messaging.routing.queues.UnknownQueue",
        consumer="nowhere.gone",
    ),
]


def wait_for_letter(key: str, *, seconds: float = 90) -> DeadLetter:
    """Wait for the letter about an aggregate, or of what cannot be read (an empty key), and return it."""
    letters = DeadLetter.objects.filter(key=key)
    wait_until(letters.all().exists, seconds=seconds, what="a dead letter")
    return letters.get()
