"""RabbitMQ is there and refuses: 403, 406, alarms, limits, and policies that nobody told the project of."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from baton_dev.blame.catalogue import EVERYBODY, Question, fault
from baton_dev.blame.effects import long_ago, row_of, until_dead, until_processed
from baton_dev.blame.servers import close_connections, evaluated, permissions, policy
from baton_dev.blame.stack import Stack
from baton_messaging.broker.rabbitmq.shovel import message_count
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import OutboxMessage
from celery import current_app

from tests.blame.samples import (
    PLATFORM,
    SAMPLE,
    STUCK,
    TAKE_ONE,
    in_a_queue,
    met_by_the_relay,
    ordinary,
    refusal,
    worker_again,
)

REFUSED = "403|ACCESS_REFUSED|permission|may not"


refusal(
    "broker's user may not write",
    REFUSED,
    lambda stack: permissions(stack, write="^$"),
    step="set_permissions",
    only="rabbitmq",
    victims=("relay",),
)
refusal(
    "broker's user may do nothing",
    REFUSED,
    lambda stack: permissions(stack, configure="^$", write="^$", read="^$"),
    step="set_permissions",
    only="rabbitmq",
)


@fault(
    "broker's user may not read",
    (State.QUEUED, State.NOBODY_CONSUMES, *STUCK),  # the relay binds the queue, for which it must read, too
    PLATFORM,
    only="rabbitmq",
    says=REFUSED,
    step="set_permissions",
    doctor=REFUSED,
    victims=("sample", "blame", "collector"),
)
def no_read(stack: Stack) -> Iterator[Question]:
    with permissions(stack, read="^$"):
        yield ordinary()


def _password(secret: str) -> str:
    return f'rabbit_auth_backend_internal:change_password(<<"guest">>, <<"{secret}">>, <<"test">>)'


refusal(
    "password of the broker's user changed",
    "403|ACCESS_REFUSED|login|password",
    lambda stack: evaluated(stack, _password("another"), _password("guest")),
    only="rabbitmq",
)
refusal(
    "virtual host takes no more connections",
    "limit",
    lambda stack: evaluated(
        stack,
        r'rabbit_vhost_limit:parse_set(<<"/">>, <<"{\"max-connections\": 0}">>, <<"test">>)',
        'rabbit_vhost_limit:clear(<<"/">>, <<"test">>)',
    ),
    step="limit",
    only="rabbitmq",
)
refusal(
    "broker's disk is full",
    "disk|full|alarm",
    lambda stack: evaluated(
        stack,
        "rabbit_alarm:set_alarm({{resource_limit, disk, node()}, []})",
        "rabbit_alarm:clear_alarm({resource_limit, disk, node()})",
        anew=False,
    ),
    only="rabbitmq",
)


@fault(
    "a policy lets the queue's messages expire",
    State.DEAD,
    PLATFORM,
    only="rabbitmq",
    says=("expired", "polic"),
    step="polic",
    doctor="polic",
)
def ttl_policy(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    with policy(stack, '{"message-ttl": 1}', queue="sample"):
        question = ordinary()
        until_dead(stack)
        yield question


def until_refused(stack: Stack) -> Question:
    """Publish until the queue takes nothing more: it learns of its length with some delay."""
    refused = OutboxMessage.objects.filter(published_at=None).exclude(last_error="").order_by("pk")

    def is_refused() -> bool:
        ordinary()
        return refused.exists()

    stack.wait(is_refused, what="a message that was refused")
    return Question(refused[0].key, TAKE_ONE)


@fault(
    "a policy lets the queue take nothing",
    STUCK,
    PLATFORM,
    only="rabbitmq",
    says="polic|max-length|reject|nack",
    step="polic",
    doctor="polic|max-length",
    victims=("relay",),
)
def length_policy(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    with policy(stack, '{"max-length": 1, "overflow": "reject-publish"}', queue="sample"):
        yield until_refused(stack)


@fault("queue deleted with its messages", State.LOST, PLATFORM, only="rabbitmq")
def queue_deleted(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    with current_app.connection_for_write() as broker:
        broker.default_channel.queue_delete("sample")
    long_ago(question)
    worker_again(stack)
    yield question


@fault("virtual host gone", STUCK, PLATFORM, only="rabbitmq", says="vhost|virtual host", doctor="vhost|virtual host")
def vhost_gone(stack: Stack) -> Iterator[Question]:
    words = '<<"guest">>, <<"/">>, <<".*">>, <<".*">>, <<".*">>, <<"test">>'
    again = f"rabbit_auth_backend_internal:set_permissions({words})"
    do, undo = 'rabbit_vhost:delete(<<"/">>, <<"test">>)', f'rabbit_vhost:add(<<"/">>, <<"test">>), {again}'
    yield from met_by_the_relay(stack, evaluated(stack, do, undo, anew=False))


@fault(
    "queue consumed by somebody who keeps what he takes",
    (State.QUEUED, State.NOBODY_CONSUMES, State.ELSEWHERE),
    PLATFORM,
    only="rabbitmq",
    says="consumers at the broker",
    step="list_consumers",
    doctor="consumers at the broker",
)
def exclusive(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    with current_app.connection_for_read() as broker:
        channel: Any = broker.channel()
        channel.basic_qos(0, 1, False)
        channel.basic_consume("sample", callback=lambda _message: None)
        stack.start("sample")
        stack.wait(lambda: stack.lives("sample"), what="a worker")
        yield question


@fault(
    "broker's memory is full",
    STUCK,
    PLATFORM,
    only="rabbitmq",
    says="memory|full|alarm",
    doctor="memory|full|alarm",
    victims=EVERYBODY,
)
def memory_alarm(stack: Stack) -> Iterator[Question]:
    alarm = "{{resource_limit, memory, node()}, []}"
    undo = "rabbit_alarm:clear_alarm({resource_limit, memory, node()})"
    yield from met_by_the_relay(stack, evaluated(stack, f"rabbit_alarm:set_alarm({alarm})", undo, anew=False))


@fault(
    "broker's user may not touch one queue",
    (State.QUEUED, State.NOBODY_CONSUMES, *STUCK),
    PLATFORM,
    only="rabbitmq",
    says=("ACCESS_REFUSED", "sample"),
    step="set_permissions",
    doctor="ACCESS_REFUSED",
    victims=("relay", "blame", "collector", "beat"),
)
def one_queue(stack: Stack) -> Iterator[Question]:
    others = "^(?!sample$).*"
    with permissions(stack, configure=others, write=others, read=others):
        question = ordinary()
        with suppress(AssertionError):
            stack.wait(lambda: not stack.lives("sample"), what="a worker that gets nothing", seconds=10)
        yield question


@fault(
    "queue has lost its majority",
    (State.QUEUED, State.NOBODY_CONSUMES, *STUCK),
    PLATFORM,
    only="rabbitmq",
    says="quorum|majority|leader|timed? ?out|no answer|not confirmed|down",
    doctor="quorum|majority|leader|timed? ?out|no answer|not confirmed|down",
    victims=("relay", "blame", "collector", "beat"),
)
def no_majority(stack: Stack) -> Iterator[Question]:
    server = "{'%2F_sample', node()}"
    do, undo = f"ra:stop_server(quorum_queues, {server})", f"ra:restart_server(quorum_queues, {server})"
    yield from met_by_the_relay(stack, evaluated(stack, do, undo, anew=False))


@fault(
    "queue is there as a classic one",
    (State.RELAY_STALLED, State.QUEUED, State.NOBODY_CONSUMES),
    PLATFORM,
    only="rabbitmq",
    says="other arguments|x-queue-type|inequivalent",
    step="migrate_queue",
    doctor="x-queue-type|inequivalent",
    victims=("relay", "blame", "collector", "beat"),
)
def another_type(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    with current_app.connection_for_write() as broker:
        channel: Any = broker.default_channel
        channel.queue_delete("sample")
        channel.queue_declare("sample", durable=True, auto_delete=False)
        try:
            close_connections(stack)
            question = ordinary()
            stack.start("sample")
            stack.wait(lambda: row_of(question).last_error, what="a message that was refused")
            yield question
        finally:
            stack.stop("sample")
            channel.queue_delete("sample")


@fault("exchange deleted", State.DONE, SAMPLE, only="rabbitmq")  # each connection declares it anew
def no_exchange(stack: Stack) -> Iterator[Question]:
    with current_app.connection_for_write() as broker:
        broker.default_channel.exchange_delete("tasks")
    question = ordinary()
    until_processed(stack, question)
    yield question


@fault("a policy lets an idle queue end", State.LOST, PLATFORM, only="rabbitmq")
def mortal_queue(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    with policy(stack, '{"expires": 1}', queue="sample"):
        stack.wait(lambda: _is_gone("sample"), what="a queue that is gone")
    long_ago(question)
    stack.start("sample")
    stack.wait(lambda: stack.lives("sample"), what="a worker")
    yield question


def _is_gone(queue: str) -> bool:
    with current_app.connection_for_read() as broker:
        return message_count(broker.default_channel, queue) is None
