"""Valkey or Redis is there and refuses: READONLY, NOREPLICAS, BUSY, NOPERM, NOAUTH, WRONGTYPE, limits and pauses."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from baton_dev.blame.catalogue import EVERYBODY, Question, fault
from baton_dev.blame.effects import long_ago, row_of, until_processed
from baton_dev.blame.servers import busy_script, commanded, configured, valkey
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State

from tests.blame.samples import PLATFORM, SAMPLE, STUCK, in_a_queue, met_by_the_relay, ordinary


@fault(
    "broker became a replica",
    STUCK,
    PLATFORM,
    only="redis",
    says="READONLY|read.only|replica",
    step="primary|replicaof",
    doctor="READONLY|read.only|replica",
    victims=EVERYBODY,
)
def replica(stack: Stack) -> Iterator[Question]:
    yield from met_by_the_relay(stack, commanded(stack, "REPLICAOF 127.0.0.1 9", "REPLICAOF NO ONE"))


@fault(
    "broker waits for replicas",
    STUCK,
    PLATFORM,
    only="redis",
    says="NOREPLICAS|replica",
    step="min-replicas-to-write|replica",
    doctor="NOREPLICAS|replica",
    victims=EVERYBODY,
)
def no_replicas(stack: Stack) -> Iterator[Question]:
    yield from met_by_the_relay(stack, configured(stack, "min-replicas-to-write", "1"))


@contextmanager
def unsaved(stack: Stack) -> Iterator[None]:
    """Let a snapshot fail, because a folder lies where its file should be."""
    with configured(stack, "save", "3600 1") as client:
        place, name = (client.config_get(word)[word] for word in ("dir", "dbfilename"))
        folder = Path(place) / name
        folder.mkdir()
        try:
            client.bgsave()
            failed = "rdb_last_bgsave_status"
            stack.wait(lambda: client.info("persistence")[failed] == "err", what="a snapshot that fails")
            yield
        finally:
            folder.rmdir()


@fault(
    "broker cannot save its snapshot",
    STUCK,
    PLATFORM,
    only="redis",
    says="MISCONF|snapshot",
    doctor="MISCONF|snapshot",
    victims=EVERYBODY,
)
def misconf(stack: Stack) -> Iterator[Question]:
    yield from met_by_the_relay(stack, unsaved(stack))


@fault(
    "a script keeps the broker busy",
    STUCK,
    PLATFORM,
    only="redis",
    says="BUSY|script",
    step="SCRIPT KILL",
    doctor="BUSY|script",
    victims=EVERYBODY,
)
def busy(stack: Stack) -> Iterator[Question]:
    yield from met_by_the_relay(stack, busy_script(stack))


@fault(
    "broker's user may not touch the keys",
    STUCK,
    PLATFORM,
    only="redis",
    says="NOPERM|permission",
    step="ACL",
    doctor="NOPERM|permission",
    victims=EVERYBODY,
)
def no_permission(stack: Stack) -> Iterator[Question]:
    do, undo = "ACL SETUSER default resetkeys ~other*", "ACL SETUSER default ~*"
    yield from met_by_the_relay(stack, commanded(stack, do, undo))


@fault(
    "broker's user may not publish",
    STUCK,
    PLATFORM,
    only="redis",
    says="NOPERM|permission",
    step="ACL",
    doctor="NOPERM|permission",
    victims=("relay", "collector", "beat"),
)
def no_lpush(stack: Stack) -> Iterator[Question]:
    do = "ACL SETUSER default -lpush -rpush -eval -evalsha"
    yield from met_by_the_relay(stack, commanded(stack, do, "ACL SETUSER default +@all"))


@fault(
    "broker asks for a password",
    STUCK,
    PLATFORM,
    only="redis",
    says="NOAUTH|password|authenticat",
    doctor="NOAUTH|password|authenticat",
    victims=EVERYBODY,
)
def no_password(stack: Stack) -> Iterator[Question]:
    yield from met_by_the_relay(stack, configured(stack, "requirepass", "another"), anew=True)


@fault(
    "broker has no room for clients",
    STUCK,
    PLATFORM,
    only="redis",
    says="max number of clients|maxclients",
    step="maxclients",
    doctor="max number of clients|maxclients",
    victims=EVERYBODY,
)
def no_clients(stack: Stack) -> Iterator[Question]:
    yield from met_by_the_relay(stack, configured(stack, "maxclients", "1"), anew=True)


@fault(
    "writes to the broker are paused",
    STUCK,
    PLATFORM,
    only="redis",
    says="pause",
    step="CLIENT UNPAUSE",
    doctor="pause",
    victims=EVERYBODY,
)
def paused(stack: Stack) -> Iterator[Question]:
    yield from met_by_the_relay(stack, commanded(stack, "CLIENT PAUSE 120000 WRITE", "CLIENT UNPAUSE"))


@fault(
    "the queue's key has another type",
    STUCK,
    PLATFORM,
    only="redis",
    says="WRONGTYPE",
    step="RENAME sample",
    doctor="WRONGTYPE",
    victims=("relay", "sample", "blame", "collector", "beat"),
)
def wrong_type(stack: Stack) -> Iterator[Question]:
    client = valkey(stack)
    client.delete("sample")
    client.set("sample", "x")
    try:
        question = ordinary()
        stack.wait(lambda: row_of(question).last_error, what="a message that was refused")
        yield question
    finally:
        client.delete("sample")


@fault("the queue's key expired", State.LOST, PLATFORM, only="redis")
def expired(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    client = valkey(stack)
    client.pexpire("sample", 1)
    stack.wait(lambda: not client.exists("sample"), what="a queue that is gone")
    long_ago(question)
    stack.start("sample")
    stack.wait(lambda: stack.lives("sample"), what="a worker")
    yield question


@fault("broker may evict keys", State.DONE, SAMPLE, only="redis")
def eviction(stack: Stack) -> Iterator[Question]:
    with configured(stack, "maxmemory-policy", "allkeys-lru"):
        question = ordinary()
        until_processed(stack, question)
        yield question
