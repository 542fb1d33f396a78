"""Valkey or Redis is there and refuses: READONLY, NOREPLICAS, BUSY, NOPERM, NOAUTH, WRONGTYPE, limits and pauses."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import long_ago, row_of, until_processed
from baton_dev.blame.servers import busy_script, commanded, configured, valkey
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State

from tests.blame.samples import PLATFORM, SAMPLE, STUCK, in_a_queue, ordinary, refusal, worker_again


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


refusal(
    "broker became a replica",
    "READONLY|read.only|replica",
    lambda stack: commanded(stack, "REPLICAOF 127.0.0.1 9", "REPLICAOF NO ONE"),
    step="primary|replicaof",
    only="redis",
)
refusal(
    "broker waits for replicas",
    "NOREPLICAS|replica",
    lambda stack: configured(stack, "min-replicas-to-write", "1"),
    step="min-replicas-to-write|replica",
    only="redis",
)
refusal("broker cannot save its snapshot", "MISCONF|snapshot", unsaved, only="redis")
refusal(
    "a script keeps the broker busy",
    "BUSY|script",
    lambda stack: busy_script(stack),  # noqa: PLW0108 - its module names the room
    step="SCRIPT KILL",
    only="redis",
)
refusal(
    "broker's user may not touch the keys",
    "NOPERM|permission",
    lambda stack: commanded(stack, "ACL SETUSER default resetkeys ~other*", "ACL SETUSER default ~*"),
    step="ACL",
    only="redis",
)
refusal(
    "broker's user may not publish",
    "NOPERM|permission",
    lambda stack: commanded(stack, "ACL SETUSER default -lpush -rpush -eval -evalsha", "ACL SETUSER default +@all"),
    step="ACL",
    only="redis",
    victims=("relay", "collector", "beat"),
)
refusal(
    "broker asks for a password",
    "NOAUTH|password|authenticat",
    lambda stack: configured(stack, "requirepass", "another"),
    only="redis",
    anew=True,
)
refusal(
    "broker has no room for clients",
    "max number of clients|maxclients",
    lambda stack: configured(stack, "maxclients", "1"),
    step="maxclients",
    only="redis",
    anew=True,
)
refusal(
    "writes to the broker are paused",
    "pause",
    lambda stack: commanded(stack, "CLIENT PAUSE 120000 WRITE", "CLIENT UNPAUSE"),
    step="CLIENT UNPAUSE",
    only="redis",
)


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
    worker_again(stack)
    yield question


@fault("broker may evict keys", State.DONE, SAMPLE, only="redis")
def eviction(stack: Stack) -> Iterator[Question]:
    with configured(stack, "maxmemory-policy", "allkeys-lru"):
        question = ordinary()
        until_processed(stack, question)
        yield question
