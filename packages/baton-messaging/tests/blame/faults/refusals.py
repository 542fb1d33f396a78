"""Servers that answer and take no work: whoever waits for them is not at fault. The server's own words are said."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import redis
from baton_dev.blame.catalogue import EVERYBODY, Question, fault
from baton_dev.blame.effects import until_dead, until_published, until_running
from baton_dev.blame.stack import Stack
from baton_dev.testing.rabbitmq import RabbitMQ
from baton_messaging.diagnosis.triage.verdict import State
from celery import current_app
from django.db import connection

from tests.blame.samples import PLATFORM, in_a_queue, ordinary

ALL = EVERYBODY
SENDING = (State.WAITING, State.RELAY_STALLED)


# --- PostgreSQL ----------------------------------------------------------------------------------------------------


@contextmanager
def psql(stack: Stack, *statements: str) -> Iterator[psycopg.Connection[Any]]:
    """Open a session as somebody has it who thinks of something else by now."""
    with psycopg.connect(stack.direct_database_url, application_name="psql") as session:
        for statement in statements:
            session.execute(statement)
        yield session
        session.rollback()


@contextmanager
def configured(stack: Stack, name: str, value: str) -> Iterator[None]:
    """Change a setting of the server for a while."""
    with psycopg.connect(stack.direct_database_url, autocommit=True) as session:
        session.execute("SET synchronous_commit TO local")
        session.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        session.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            session.execute(f"ALTER SYSTEM RESET {name}")
            session.execute("SELECT pg_reload_conf()")


@fault(
    "a forgotten session holds what the handler needs",
    State.RUNNING,
    PLATFORM,
    says="psql",
    step="pg_terminate_backend",
    doctor="psql",
    victims=ALL,
)
def forgotten_session(stack: Stack) -> Iterator[Question]:
    with psql(stack, "LOCK TABLE sample_effect IN SHARE MODE"):
        question = ordinary()
        until_running(stack, question)
        yield question


@fault(
    "a migration holds the inbox",
    (State.UNKNOWN, State.RUNNING),
    PLATFORM,
    says="lock",
    victims=ALL,
)
def locked_inbox(stack: Stack) -> Iterator[Question]:
    with psql(stack, "LOCK TABLE baton_inbox IN ACCESS EXCLUSIVE MODE"):
        question = ordinary()
        until_published(stack, question)
        yield Question(question.id, "")


@fault(
    "every commit waits for a standby that is not there",
    (*SENDING, State.QUEUED, State.UNKNOWN),
    PLATFORM,
    says="standby1",
    doctor="standby1",
    victims=ALL,
)
def no_standby(stack: Stack) -> Iterator[Question]:
    stack.stop("relay")
    question = ordinary()
    with configured(stack, "synchronous_standby_names", "standby1"):
        connection.close()
        stack.launch("relay")
        with psycopg.connect(stack.direct_database_url, autocommit=True) as session:
            waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            stack.wait(lambda: (session.execute(waits).fetchone() or (0,))[0] > 0, what="a commit that hangs")
        yield question


@fault(
    "the database takes no writes by a setting of its own",
    (*SENDING, State.UNKNOWN),
    PLATFORM,
    says="read-only",
    doctor="read-only",
    victims=ALL,
)
def read_only(stack: Stack) -> Iterator[Question]:
    stack.stop("relay")
    question = ordinary()
    with configured(stack, "default_transaction_read_only", "on"):
        connection.close()
        stack.launch("relay")
        stack.wait(lambda: "database" in stack.processes["relay"].output(), what="a relay that is refused")
        yield question
    connection.close()


@fault("a column is missing", (*SENDING, State.QUEUED, State.UNKNOWN, State.RETRYING, State.RUNNING), PLATFORM)
def missing_column(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    with psycopg.connect(stack.direct_database_url, autocommit=True) as session:
        session.execute("ALTER TABLE baton_inbox RENAME COLUMN duration_ms TO took_ms")
        try:
            stack.launch("sample")
            time.sleep(3)  # until the worker has met it: no table tells of that
            yield Question(question.id, "")
        finally:
            session.execute("ALTER TABLE baton_inbox RENAME COLUMN took_ms TO duration_ms")


# --- Valkey --------------------------------------------------------------------------------------------------------


@contextmanager
def valkey(stack: Stack) -> Iterator[redis.Redis]:
    """Log in beside the proxies, before anything is forbidden."""
    assert stack.broker_server
    with redis.Redis(port=stack.broker_server.port) as client:
        client.ping()
        yield client


def refused(stack: Stack, client: redis.Redis, *, close: bool = True) -> Question:
    """Publish a message that the relay cannot send; ``close``: those that are logged in must log in again."""
    if close:
        for entry in client.client_list():
            if entry["id"] != str(client.client_id()):
                client.client_kill_filter(_id=entry["id"])
    question = ordinary()
    stack.wait(lambda: not stack.lives("relay"), what="a relay that cannot send")
    return question


def on_redis(name: str, *, says: str, step: str = "") -> Any:
    """Declare that a Valkey refuses, in those words."""
    return fault(name, SENDING, PLATFORM, says=says, doctor=says, step=step, victims=ALL, only="redis")


@on_redis("Valkey is a replica", says="READONLY", step="primary")
def replica(stack: Stack) -> Iterator[Question]:
    with valkey(stack) as client:
        client.replicaof("127.0.0.1", 9)
        try:
            yield refused(stack, client, close=False)
        finally:
            client.replicaof("NO", "ONE")


@on_redis("Valkey wants more replicas", says="NOREPLICAS")
def no_replicas(stack: Stack) -> Iterator[Question]:
    with valkey(stack) as client:
        client.config_set("min-replicas-to-write", 1)
        try:
            yield refused(stack, client, close=False)
        finally:
            client.config_set("min-replicas-to-write", 0)


@on_redis("Valkey cannot save its snapshot", says="MISCONF")
def cannot_save(stack: Stack) -> Iterator[Question]:
    with valkey(stack) as client:
        client.config_set("dbfilename", "a-folder.rdb")
        folder = Path(str(client.config_get("dir")["dir"]))
        (folder / "a-folder.rdb").mkdir()
        client.config_set("save", "3600 1")
        client.bgsave()
        stack.wait(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err", what="a failed snapshot")
        try:
            yield refused(stack, client, close=False)
        finally:
            (folder / "a-folder.rdb").rmdir()
            client.config_set("save", "")
            client.config_set("dbfilename", "dump.rdb")


@on_redis("a command is forbidden to the user of the broker", says="NOPERM", step="ACL")
def forbidden(stack: Stack) -> Iterator[Question]:
    with valkey(stack) as client:
        client.acl_setuser("default", categories=["-@write"])
        try:
            yield refused(stack, client, close=False)
        finally:
            client.acl_setuser("default", categories=["+@all"])


@on_redis("the broker's password has changed", says="NOAUTH")
def other_password(stack: Stack) -> Iterator[Question]:
    with valkey(stack) as client:
        client.config_set("requirepass", "changed")
        try:
            yield refused(stack, client)
        finally:
            client.auth("changed")
            client.config_set("requirepass", "")


@on_redis("the broker takes no more clients", says="max number of clients")
def too_many_clients(stack: Stack) -> Iterator[Question]:
    with valkey(stack) as client:
        before = client.config_get("maxclients")["maxclients"]
        client.config_set("maxclients", 1)
        try:
            yield refused(stack, client)
        finally:
            client.config_set("maxclients", str(before))


@on_redis("something else lies under the queue's name", says="WRONGTYPE")
def wrong_type(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    with valkey(stack) as client:
        client.delete("sample")
        client.set("sample", "a note of somebody")
        try:
            question = ordinary()
            time.sleep(3)  # until the relay has tried
            yield question
        finally:
            client.delete("sample")


# --- RabbitMQ ------------------------------------------------------------------------------------------------------


@contextmanager
def rights(stack: Stack, *, configure: str = ".*", write: str = ".*", read: str = ".*") -> Iterator[None]:
    """Give the user other rights for a while, and close its connections, for channels remember."""
    node = stack.broker_server
    assert isinstance(node, RabbitMQ)
    words = ", ".join(f'<<"{pattern}">>' for pattern in (configure, write, read))
    call = 'rabbit_auth_backend_internal:set_permissions(<<"guest">>, <<"/">>, {words}, <<"blame">>)'
    node.evaluate(call.format(words=words))
    _close_connections(node)
    try:
        yield
    finally:
        node.evaluate(call.format(words=", ".join(['<<".*">>'] * 3)))
        _close_connections(node)


def _close_connections(node: RabbitMQ) -> None:
    node.evaluate('[rabbit_networking:close_connection(Pid, "blame") || Pid <- rabbit_networking:connections()]')


@fault(
    "the user may not write to the broker any more",
    SENDING,
    PLATFORM,
    says="ACCESS_REFUSED",
    step="set_permissions",
    doctor="ACCESS_REFUSED",
    victims=ALL,
    only="rabbitmq",
)
def no_write(stack: Stack) -> Iterator[Question]:
    with rights(stack, write="^$"):
        question = ordinary()
        stack.wait(lambda: not stack.lives("relay"), what="a relay that cannot send")
        yield question


@fault(
    "the user may not read from the broker any more",
    (State.QUEUED, State.NOBODY_CONSUMES),
    PLATFORM,
    says="ACCESS_REFUSED",
    step="set_permissions",
    doctor="ACCESS_REFUSED",
    victims=ALL,
    only="rabbitmq",
)
def no_read(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    with rights(stack, read="^$"):
        stack.launch("sample")
        stack.wait(lambda: "403" in stack.processes["sample"].output(), what="a worker that is refused")
        yield question


@fault(
    "the broker's password has changed (RabbitMQ)",
    SENDING,
    PLATFORM,
    says="ACCESS_REFUSED",
    doctor="ACCESS_REFUSED",
    victims=ALL,
    only="rabbitmq",
)
def other_password_of_guest(stack: Stack) -> Iterator[Question]:
    node = stack.broker_server
    assert isinstance(node, RabbitMQ)
    change = 'rabbit_auth_backend_internal:change_password(<<"guest">>, <<"{word}">>, <<"blame">>)'
    node.evaluate(change.format(word="changed"))
    _close_connections(node)
    try:
        question = ordinary()
        stack.wait(lambda: not stack.lives("relay"), what="a relay that cannot send")
        yield question
    finally:
        node.evaluate(change.format(word="guest"))


@fault("a policy lets messages expire (RabbitMQ)", State.DEAD, PLATFORM, says="expired", step="policy", only="rabbitmq")
def expiry_policy(stack: Stack) -> Iterator[Question]:
    node = stack.broker_server
    assert isinstance(node, RabbitMQ)
    stack.stop("sample")
    node.evaluate(
        'rabbit_policy:set(<<"/">>, <<"short">>, <<"^sample$">>, [{<<"message-ttl">>, 100}], 9, <<"queues">>, <<"b">>)'
    )
    try:
        question = ordinary()
        until_published(stack, question)
        until_dead(stack)
        yield question
    finally:
        node.evaluate('rabbit_policy:delete(<<"/">>, <<"short">>, <<"b">>)')


@fault(
    "somebody else consumes the queue exclusively (RabbitMQ)",
    (State.QUEUED, State.NOBODY_CONSUMES),
    PLATFORM,
    says="exclusive",
    only="rabbitmq",
)
def exclusive(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    with current_app.connection_for_read() as broker:
        channel: Any = broker.channel()
        channel.basic_qos(0, 1, False)
        channel.basic_consume("sample", exclusive=True, callback=lambda _message: None)
        stack.launch("sample")
        stack.wait(lambda: "403" in stack.processes["sample"].output(), what="a worker that is refused")
        yield question
