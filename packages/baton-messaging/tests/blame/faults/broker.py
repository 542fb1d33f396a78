"""What goes wrong with the broker, and with what it is told."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import redis
from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import (
    empty_the_broker,
    long_ago,
    place,
    row_of,
    until_dead,
    until_processed,
    until_published,
)
from baton_dev.blame.stack import Stack, frozen
from baton_dev.testing.rabbitmq import RabbitMQ
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Attempt
from celery import current_app
from django.utils import timezone

from tests.blame.queues import ODD
from tests.blame.samples import BLAME, PLATFORM, SAMPLE, in_a_queue, ordinary, worker_again
from tests.dead_letters.causes import envelope_of
from tests.sample.events import Doomed


@fault("broker away, message in the outbox", (State.RELAY_STALLED, State.WAITING), PLATFORM, says="broker does not")
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
    worker_again(stack)
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


@fault(
    "queue declared otherwise",
    State.RELAY_STALLED,
    PLATFORM,
    only="rabbitmq",
    says="other arguments|inequivalent arg",
    step="migrate_queue",
)
def declared_otherwise(stack: Stack) -> Iterator[Question]:
    from tests.blame.events import Misfit

    with current_app.connection_for_write() as broker:
        channel: Any = broker.default_channel
        channel.queue_delete(ODD)
        channel.queue_declare(ODD, durable=True, auto_delete=False)
        question = place(Misfit(blame_id=uuid4()), "blame.take_odd")
        stack.wait(lambda: row_of(question).last_error, what="a refusal")
        try:
            yield question
        finally:
            channel.queue_delete(ODD)


@fault("queue without a worker", State.NOBODY_CONSUMES, BLAME)
def nobody(stack: Stack) -> Iterator[Question]:
    from tests.blame.events import Laned

    question = place(Laned(blame_id=uuid4()), "blame.take_lane")
    until_published(stack, question)
    yield question


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
