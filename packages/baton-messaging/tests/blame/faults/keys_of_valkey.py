"""Keys and channels of Valkey or Redis: rights by names, keys of somebody else, keys that end or are evicted."""

from collections.abc import Iterator
from contextlib import suppress

import redis
from baton_dev.blame.catalogue import EVERYBODY, Question, fault
from baton_dev.blame.effects import long_ago, until_processed
from baton_dev.blame.servers import commanded, configured, valkey
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Heartbeat, OutboxMessage

from tests.blame.samples import PLATFORM, SAMPLE, STUCK, in_a_queue, in_the_outbox, ordinary

OTHERS = "~baton* ~_baton* ~_kombu* ~unacked* ~blame* ~parcels* ~mails* ~dead_letters* ~*.reply.*"
ANYWHERE = (*STUCK, State.QUEUED, State.NOBODY_CONSUMES)


@fault(
    "broker's user may not touch one queue's keys",
    ANYWHERE,
    PLATFORM,
    only="redis",
    says=("NOPERM", "sample"),
    step="ACL SETUSER",
    doctor="NOPERM",
    victims=("relay", "blame", "collector", "beat"),
)
def one_queue(stack: Stack) -> Iterator[Question]:
    with in_the_outbox(stack) as question:
        valkey(stack).execute_command(*f"ACL SETUSER default resetkeys {OTHERS}".split())
    try:
        refused = OutboxMessage.objects.filter(key=question.id).exclude(last_error="")
        with suppress(AssertionError):
            stack.wait(refused.exists, what="a message that was refused", seconds=8)
        yield question
    finally:
        valkey(stack).execute_command(*["ACL", "SETUSER", "default", "~*"])


@fault("broker's user may use no channels", State.DONE, SAMPLE, only="redis", victims=EVERYBODY)
def no_channels(stack: Stack) -> Iterator[Question]:
    with commanded(stack, "ACL SETUSER default resetchannels", "ACL SETUSER default allchannels"):
        stack.stop("sample")
        stack.launch("sample")
        mine = Heartbeat.objects.filter(pid=stack.processes["sample"].pid, health__contains=[{"name": "broker"}])
        with suppress(AssertionError):
            stack.wait(mine.exists, what="a worker that has looked", seconds=15)
        question = ordinary()
        until_processed(stack, question)
        yield question


@fault(
    "another application's key in the place of what is taken",
    ANYWHERE,
    PLATFORM,
    only="redis",
    says="WRONGTYPE",
    step="RENAME unacked",
    doctor="WRONGTYPE",
    victims=("relay", "sample", "blame", "collector"),
)
def foreign_unacked(stack: Stack) -> Iterator[Question]:
    client = valkey(stack)
    client.delete("unacked")
    client.set("unacked", "x")
    try:
        question = ordinary()
        with suppress(AssertionError):
            stack.wait(lambda: not stack.lives("sample"), what="a worker that takes nothing", seconds=10)
        yield question
    finally:
        client.delete("unacked")


@fault("somebody has set a time to live for a queue", State.QUEUED, PLATFORM, only="redis", doctor="time to live")
def mortal_queue(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    question = in_a_queue(stack)
    valkey(stack).expire("sample", 3600)
    yield question


@fault(
    "the queue was evicted",
    (State.LOST, State.ELSEWHERE),
    PLATFORM,
    only="redis",
    says="evict",
    step="noeviction",
    doctor="evict",
)
def evicted(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    with configured(stack, "maxmemory-policy", "allkeys-random"), configured(stack, "maxmemory", "1") as client:
        stack.wait(lambda: _is_evicted(client), what="an evicted queue")
        client.config_set("maxmemory", "0")
        long_ago(question)
        stack.start("sample")
        stack.wait(lambda: stack.lives("sample"), what="a worker")
        yield question


def _is_evicted(client: redis.Redis) -> bool:
    with suppress(redis.RedisError):
        client.set("any", "x")  # a write lets the server look for room
    return not client.exists("sample")


@fault(
    "relay with a database number that the broker does not have",
    State.RELAY_STALLED,
    PLATFORM,
    only="redis",
    says="index is out of range",
    step="number",
    doctor="index is out of range",
    victims=("relay",),
)
def no_such_number(stack: Stack) -> Iterator[Question]:
    url = f"{stack.environment()['CELERY_BROKER_URL'].rpartition('/')[0]}/99"
    stack.stop("relay")
    stack.launch("relay", environment={"CELERY_BROKER_URL": url})
    told = Heartbeat.objects.filter(pid=stack.processes["relay"].pid, health__contains=[{"name": "broker"}])
    question = ordinary()
    stack.wait(told.exists, what="a relay that says what it met")
    try:
        yield question
    finally:
        stack.stop("relay")


@fault("another application's list is read by the same name", State.DONE, SAMPLE, only="redis")
def foreign_messages(stack: Stack) -> Iterator[Question]:
    valkey(stack).lpush("sample", '{"job": 17}')
    question = ordinary()
    until_processed(stack, question)
    yield question
