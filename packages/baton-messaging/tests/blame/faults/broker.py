"""What goes wrong with the broker, and with what it is told."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import redis
from baton_dev.testing.rabbitmq import RabbitMQ
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Attempt, OutboxMessage
from celery import current_app
from django.utils import timezone

from tests.blame.catalogue import (
    BLAME,
    PLATFORM,
    SAMPLE,
    Question,
    fault,
    ordinary,
    place,
    row_of,
    until_dead,
    until_processed,
    until_published,
)
from tests.blame.queues import ODD
from tests.blame.stack import Stack, frozen
from tests.dead_letters.causes import envelope_of
from tests.sample.events import Doomed


def in_a_queue(stack: Stack) -> Question:
    """Leave a message in the queue of a worker that is not there."""
    stack.stop("sample")
    question = ordinary()
    until_published(stack, question)
    return question


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
    """Let the message have been sent before the workers' last signs of life."""
    OutboxMessage.objects.filter(key=question.id).update(published_at=timezone.now() - timedelta(seconds=60))


@fault("broker away, message in the outbox", State.RELAY_STALLED, PLATFORM)
def away(stack: Stack) -> Iterator[Question]:
    stack.broker.close()
    yield ordinary()


@fault("broker away, message in its queue", State.UNKNOWN, PLATFORM, says="does not answer", short=True)
def away_with_the_message(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    stack.broker.close()
    yield question


@fault("broker stopped with SIGSTOP, message in the outbox", State.RELAY_STALLED, PLATFORM)
def silent(stack: Stack) -> Iterator[Question]:
    assert stack.broker_server
    with frozen(stack.broker_server):
        yield ordinary()


@fault("broker stopped with SIGSTOP, message in its queue", State.UNKNOWN, PLATFORM)
def silent_with_the_message(stack: Stack) -> Iterator[Question]:
    assert stack.broker_server
    question = in_a_queue(stack)
    with frozen(stack.broker_server):
        yield question


@fault("broker emptied", State.LOST, PLATFORM)
def emptied(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    empty_the_broker(stack)
    long_ago(question)
    stack.start("sample")
    stack.wait(lambda: stack.lives("sample"), what="a worker")
    yield question


@contextmanager
def full_memory(stack: Stack) -> Iterator[None]:
    """Let the broker believe that its memory is full."""
    server = stack.broker_server
    assert server
    if isinstance(server, RabbitMQ):
        with server.full():
            yield
        return
    client = redis.Redis(port=server.port)
    client.config_set("maxmemory", "1mb")
    try:
        yield
    finally:
        client.config_set("maxmemory", "0")


@fault("broker full", State.RELAY_STALLED, PLATFORM, says="the broker is full")
def full(stack: Stack) -> Iterator[Question]:
    with full_memory(stack):
        question = ordinary()
        stack.wait(lambda: not stack.lives("relay"), what="a relay that gets nothing to the broker")
        yield question


# Who cannot publish must go on consuming, and start to: nothing else empties the broker.
@fault("broker full, message in its queue", State.DONE, SAMPLE, pair=True)
def full_with_the_message(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    with full_memory(stack):
        stack.start("sample")
        until_processed(stack, question)
        yield question


@fault("queue declared otherwise", State.RELAY_STALLED, PLATFORM, only="rabbitmq", says="other arguments")
def declared_otherwise(stack: Stack) -> Iterator[Question]:
    from tests.blame.events import Misfit

    with current_app.connection_for_write() as broker:
        channel: Any = broker.default_channel
        channel.queue_delete(ODD)
        channel.queue_declare(ODD, durable=True, auto_delete=False)
        question = place(Misfit(blame_id=uuid4()))
        stack.wait(lambda: row_of(question).last_error, what="a refusal")
        try:
            yield Question(question.id, "blame.take_odd")
        finally:
            channel.queue_delete(ODD)


@fault("queue without a worker", State.NOBODY_CONSUMES, BLAME)
def nobody(stack: Stack) -> Iterator[Question]:
    from tests.blame.events import Laned

    question = place(Laned(blame_id=uuid4()))
    until_published(stack, question)
    yield Question(question.id, "blame.take_lane")


@fault("a wrong route", State.DEAD, PLATFORM, says="unroutable")
def wrong_route(stack: Stack) -> Iterator[Question]:
    envelope = envelope_of(Doomed(sample_id=uuid4()))
    Attempt.objects.create(
        message_id=envelope.message_id,
        consumer="nowhere.gone",
        attempt=1,
        key=envelope.key,
        envelope=envelope.as_dict(),
        error_class="E",
        due_at=timezone.now(),
    )
    until_dead(stack)
    yield Question(str(envelope.message_id), "nowhere.gone")
