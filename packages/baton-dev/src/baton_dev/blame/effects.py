"""Effects of a fault are waited for before triage is asked; and what faults of every suite bring about.

Each condition is looked up in the tables themselves, not by way of what is examined.
"""

from datetime import timedelta
from typing import Any

from baton_messaging.events import Event
from baton_messaging.models import DeadLetter, Heartbeat, OutboxMessage, ProcessedMessage
from baton_messaging.publish import publish
from celery import current_app
from django.db import transaction
from django.utils import timezone

from baton_dev.blame.catalogue import Question
from baton_dev.blame.stack import Stack


def place(event: Event, consumer: str) -> Question:
    """Publish an event; the question is about one of its consumers."""
    with transaction.atomic():
        publish(event)
    return Question(event.key, consumer)


def row_of(question: Question) -> OutboxMessage:
    """Return the first message about the id."""
    return OutboxMessage.objects.filter(key=question.id).order_by("pk")[0]


def until_published(stack: Stack, question: Question) -> None:
    stack.wait(lambda: row_of(question).published_at, what="a message that left the outbox")


def until_processed(stack: Stack, question: Question) -> None:
    place = {"message_id": row_of(question).message_id, "consumer": question.consumer}
    stack.wait(ProcessedMessage.objects.filter(**place).exists, what="a row of the inbox")


def until_running(stack: Stack, question: Question) -> None:
    """Wait until a worker says that it runs the message."""
    message_id = str(row_of(question).message_id)

    def is_said() -> bool:
        rows = Heartbeat.objects.values_list("running", flat=True)
        mine = [entry for row in rows for entry in row if entry["consumer"] == question.consumer]
        return any(message_id in entry["message_ids"] for entry in mine)

    stack.wait(is_said, what="a worker that says that it runs it")


def until_dead(stack: Stack, *, seconds: float = 60) -> DeadLetter:
    stack.wait(DeadLetter.objects.exists, what="a dead letter", seconds=seconds)
    return DeadLetter.objects.get()


def empty_the_broker(stack: Stack) -> None:
    """Delete all messages, as a server does that comes back without its data."""
    with current_app.connection_for_write() as broker:
        if not stack.is_rabbitmq:
            client: Any = broker.default_channel.client
            client.flushall()
            return
        for queue in current_app.amqp.queues.values():
            queue.bind(broker.default_channel).purge()


def long_ago(question: Question) -> None:
    """Let the message have been sent before the workers' last heartbeats."""
    OutboxMessage.objects.filter(key=question.id).update(published_at=timezone.now() - timedelta(seconds=60))
