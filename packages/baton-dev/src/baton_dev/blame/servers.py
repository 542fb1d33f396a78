"""Servers are made to refuse their work, each by its own means: settings, rights, limits, locks; and healed again.

All of it goes past the proxies that the system's processes go through, so that it can be healed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, LiteralString
from urllib.parse import urlsplit

import psycopg
import redis
from celery import current_app
from django.db import connection
from psycopg import sql

from baton_dev.blame.stack import Stack
from baton_dev.testing.rabbitmq import RabbitMQ

Session = psycopg.Connection[tuple[Any, ...]]

# --- PostgreSQL ------------------------------------------------------------------------------------------------------


@contextmanager
def session(application: str = "psql", *, database: str = "") -> Iterator[Session]:
    """Open a session of somebody else, past the proxy."""
    url = urlsplit(os.environ["DATABASE_URL"])
    path = f"/{database or connection.settings_dict['NAME']}"
    place = url._replace(scheme="postgresql", path=path).geturl()
    with psycopg.connect(place, autocommit=True, application_name=application) as opened:
        opened.execute("SET default_transaction_read_only = off")
        yield opened


def end_all_other_sessions(own: Session) -> None:
    """End them, so that whoever comes back meets what has been changed."""
    name = connection.settings_dict["NAME"]
    connection.close()
    own.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()", [name]
    )


@contextmanager
def locked(statement: LiteralString, *, application: str = "psql") -> Iterator[int]:
    """Leave a transaction open that has executed a statement; yield its session's pid."""
    with session(application) as theirs:
        theirs.execute("BEGIN")
        theirs.execute(statement)
        try:
            yield theirs.info.backend_pid
        finally:
            theirs.execute("ROLLBACK")


@contextmanager
def altered(change: LiteralString, undo: LiteralString, *, name: str, database: str = "") -> Iterator[Session]:
    """Change a database or role, and let all processes connect anew. "{}" is its name."""
    with session("admin", database=database) as own:
        own.execute(sql.SQL(change).format(sql.Identifier(name)))
        try:
            end_all_other_sessions(own)
            yield own
        finally:
            own.execute(sql.SQL(undo).format(sql.Identifier(name)))
            end_all_other_sessions(own)


@contextmanager
def no_commits() -> Iterator[None]:
    """Let each commit wait for a standby that is not there."""
    with session("admin") as own:
        own.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby1'")
        own.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            own.execute("ALTER SYSTEM RESET synchronous_standby_names")
            own.execute("SELECT pg_reload_conf()")


@contextmanager
def used_up(application: str) -> Iterator[None]:
    """Take all connections that the server has, those that others had as well."""
    connection.close()
    url = urlsplit(os.environ["DATABASE_URL"])._replace(scheme="postgresql").geturl()
    theirs: list[Session] = []
    ended = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name <> %s AND datname IS NOT NULL"
    )
    try:
        for _ in range(3):  # who comes back meanwhile is sent away again
            with suppress(psycopg.OperationalError):
                while True:
                    theirs.append(psycopg.connect(url, autocommit=True, application_name=application))
            theirs[0].execute(ended, [application])
        with suppress(psycopg.OperationalError):
            while True:
                theirs.append(psycopg.connect(url, autocommit=True, application_name=application))
        yield
    finally:
        for one in theirs:
            one.close()


# --- Valkey ----------------------------------------------------------------------------------------------------------


def valkey(stack: Stack) -> Any:
    """Return a client that goes past the proxy, and stays connected."""
    assert stack.broker_server
    client: Any = redis.Redis(port=stack.broker_server.port, single_connection_client=True)
    client.ping()
    return client


@contextmanager
def configured(stack: Stack, name: str, value: str) -> Iterator[Any]:
    """Set a setting of the server for a while."""
    client = valkey(stack)
    (before,) = client.config_get(name).values()
    client.config_set(name, value)
    try:
        yield client
    finally:
        client.config_set(name, before)


@contextmanager
def commanded(stack: Stack, do: str, undo: str) -> Iterator[Any]:
    """Execute a command, and later its opposite."""
    client = valkey(stack)
    client.execute_command(*do.split())
    try:
        yield client
    finally:
        client.execute_command(*undo.split())


@contextmanager
def busy_script(stack: Stack) -> Iterator[None]:
    """Let a script run that does not end."""
    with configured(stack, "busy-reply-threshold", "100") as client:
        theirs = redis.Redis(port=stack.broker_server.port)  # type: ignore[union-attr]

        def run() -> None:
            with suppress(redis.RedisError):
                theirs.eval("while true do end", 0)

        thread = Thread(target=run)
        thread.start()
        stack.wait(lambda: _is_busy(client), what="a script that runs")
        try:
            yield
        finally:
            client.script_kill()
            thread.join()


def _is_busy(client: Any) -> bool:
    try:
        client.exists("any")
    except redis.ResponseError:
        return True
    return False


# --- RabbitMQ --------------------------------------------------------------------------------------------------------


def rabbitmq(stack: Stack) -> RabbitMQ:
    assert isinstance(stack.broker_server, RabbitMQ)
    return stack.broker_server


@contextmanager
def evaluated(stack: Stack, do: str, undo: str, *, anew: bool = True) -> Iterator[None]:
    """Evaluate an expression on the node, and later its opposite. ``anew``: all clients must connect again."""
    node = rabbitmq(stack)
    node.evaluate(do)
    try:
        if anew:
            close_connections(stack)
        yield
    finally:
        node.evaluate(undo)


def close_connections(stack: Stack) -> None:
    """Close the connections of all clients, cutting them at the proxy: each comes back at once, if it may."""
    stack.broker.close()
    stack.broker.open()


def permissions(stack: Stack, *, configure: str = ".*", write: str = ".*", read: str = ".*") -> Any:
    """Give the user these rights for a while. What a channel may do it asks once: so all connect anew."""

    def given(*rights: str) -> str:
        words = ", ".join(f'<<"{right}">>' for right in ("guest", "/", *rights, "test"))
        return f"rabbit_auth_backend_internal:set_permissions({words})"

    return evaluated(stack, given(configure, write, read), given(".*", ".*", ".*"))


def policy(stack: Stack, definition: str, *, queue: str) -> Any:
    """Put a policy on a queue for a while; ``definition`` in JSON."""
    told = definition.replace('"', '\\"')
    words = f'<<"/">>, <<"blame">>, <<"^{queue}$">>, <<"{told}">>, 1, <<"queues">>, <<"test">>'
    undo = 'rabbit_policy:delete(<<"/">>, <<"blame">>, <<"test">>)'
    return evaluated(stack, f"rabbit_policy:parse_set({words})", undo, anew=False)


# --- either broker ---------------------------------------------------------------------------------------------------


@contextmanager
def another_broker(stack: Stack) -> Iterator[str]:
    """Yield the URL of another broker, as far as messages are concerned: the server's other database or vhost."""
    url = stack.environment()["CELERY_BROKER_URL"]
    if not stack.is_rabbitmq:
        yield f"{url.rpartition('/')[0]}/5"
        valkey(stack).execute_command("SWAPDB", 5, 6)
        return
    node = rabbitmq(stack)
    node.evaluate('rabbit_vhost:add(<<"other">>, <<"test">>)')
    words = '<<"guest">>, <<"other">>, <<".*">>, <<".*">>, <<".*">>, <<"test">>'
    node.evaluate(f"rabbit_auth_backend_internal:set_permissions({words})")
    try:
        yield f"{url.removesuffix('//')}/other"
    finally:
        node.evaluate('rabbit_vhost:delete(<<"other">>, <<"test">>)')


@contextmanager
def stranger(stack: Stack, queue: str) -> Iterator[list[bytes]]:
    """Let a program that is none of Baton's take messages from a queue and acknowledge them; yield what it took."""
    taken: list[bytes] = []
    ended: list[bool] = []
    thread = Thread(target=_take_from, args=(stack, queue, taken, ended))
    thread.start()
    try:
        yield taken
    finally:
        ended.append(True)
        thread.join()


def _take_from(stack: Stack, queue: str, taken: list[bytes], ended: list[bool]) -> None:
    if not stack.is_rabbitmq:
        client: Any = redis.Redis(port=stack.broker_server.port, client_name="old-app")  # type: ignore[union-attr]
        while not ended:
            found = client.brpop([queue], timeout=1)
            taken.extend(found[1:] if found else ())
        return
    with current_app.connection_for_read() as broker:
        channel: Any = broker.default_channel
        tag = channel.basic_consume(queue, no_ack=True, callback=lambda message: taken.append(message.body))
        while not ended:
            with suppress(TimeoutError, OSError):
                broker.drain_events(timeout=1)
        channel.basic_cancel(tag)
