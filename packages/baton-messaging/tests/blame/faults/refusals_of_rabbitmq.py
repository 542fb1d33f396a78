"""RabbitMQ is there and refuses: 403, 406, alarms, limits, and policies that nobody told the project of."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import long_ago, until_dead
from baton_dev.blame.servers import evaluated, permissions, policy
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import OutboxMessage
from celery import current_app

from tests.blame.samples import PLATFORM, STUCK, TAKE_ONE, in_a_queue, met_by_the_relay, ordinary, refusal, worker_again

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
    (*STUCK, State.QUEUED, State.NOBODY_CONSUMES),  # a relay that connects anew binds its queues, which is reading
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
        for _ in range(20):
            ordinary()
        with suppress(AssertionError):
            stack.wait(lambda: not stack.lives("relay"), what="a relay that gets nothing to the queue", seconds=8)
        refused = OutboxMessage.objects.filter(published_at=None).order_by("pk").first()
        assert refused, "the queue has taken all"
        yield Question(refused.key, TAKE_ONE)


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
    "queue consumed exclusively by somebody else",
    (State.QUEUED, State.NOBODY_CONSUMES, State.ELSEWHERE),
    PLATFORM,
    only="rabbitmq",
    says="exclusive|not known here",
    doctor="exclusive|not known here",
)
def exclusive(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    with current_app.connection_for_read() as broker:
        channel: Any = broker.channel()
        channel.basic_qos(0, 1, False)
        channel.basic_consume("sample", exclusive=True, callback=lambda _message: None)
        stack.launch("sample")
        with suppress(AssertionError):  # in a log it stands only where the worker did not start for it
            stack.wait(lambda: "403" in stack.processes["sample"].output(), what="a refused worker", seconds=8)
        yield question
