"""The broker examined: which one is it, and is it set up to keep what it is given?"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

import kombu
from celery import current_app

from baton_messaging.diagnosis.doctor.database import clock_observation
from baton_messaging.diagnosis.doctor.examination import BROKER, Observation, examines, observed

ANSWER_SECONDS: Final = 1.5  # below the doctor's deadline, so that the observation says what the connection said
MIN_RABBITMQ: Final = (3, 10)
MIN_REDIS: Final = (6, 2)
#: Share of maxmemory in use above which a burst may fill it: then nothing more is taken (the outbox keeps it).
MAX_MEMORY_SHARE: Final = 0.8


@contextmanager
def broker_connection() -> Iterator[kombu.Connection]:
    """Connect, and wait for no answer longer than ANSWER_SECONDS."""
    app: Any = current_app
    options = {"socket_timeout": ANSWER_SECONDS, "socket_connect_timeout": ANSWER_SECONDS}
    if app.connection_for_read().transport.driver_type == "amqp":
        options = {"read_timeout": ANSWER_SECONDS, "write_timeout": ANSWER_SECONDS}
    connection = app.connection_for_read(connect_timeout=ANSWER_SECONDS, transport_options=options)
    try:
        connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=ANSWER_SECONDS)
        yield connection
    finally:
        connection.release()


@examines(BROKER)
def examine_broker() -> Iterator[Observation]:
    """Say which broker answers, and whether it is set up to keep messages."""
    with broker_connection() as connection:
        channel: Any = connection.channel()
        if connection.transport.driver_type == "redis":
            with channel.conn_or_acquire() as client:
                yield from _redis(client)
        else:
            yield from _rabbitmq(channel.connection.server_properties)


def _rabbitmq(properties: dict[str, Any]) -> Iterator[Observation]:
    product, version = str(properties.get("product", "")), str(properties.get("version", ""))
    yield observed(
        _numbers(version) >= MIN_RABBITMQ,
        "broker",
        found=f"{product} {version} answers",
        wanted="RabbitMQ 3.10 or newer",
        remedy="Upgrade RabbitMQ: older quorum queues have no at-least-once dead-lettering.",
    )


def _redis(client: Any) -> Iterator[Observation]:
    before = datetime.now(UTC)
    seconds, microseconds = client.time()
    theirs = datetime.fromtimestamp(seconds + microseconds / 1e6, UTC)
    after = datetime.now(UTC)
    info = client.info()
    name, version = str(info.get("server_name", "redis")).capitalize(), str(info["redis_version"])
    yield observed(
        _numbers(version) >= MIN_REDIS,
        "broker",
        found=f"{name} {info.get('valkey_version', version)} answers",
        wanted="Redis 6.2 or newer, or Valkey",
        remedy="Upgrade the broker: older ones lack commands that the transport uses.",
    )
    yield from (_eviction(info), _memory(info), _persistence(info))
    yield clock_observation("clock of the broker", theirs=theirs, before=before, after=after)


def _eviction(info: dict[str, Any]) -> Observation:
    policy = str(info.get("maxmemory_policy", "not told"))
    return observed(
        policy == "noeviction",
        "eviction policy of the broker",
        found=policy,
        wanted="noeviction",
        remedy="Set maxmemory-policy noeviction: any other deletes queued messages when memory is full.",
    )


def _memory(info: dict[str, Any]) -> Observation:
    limit, used = int(info.get("maxmemory", 0)), int(info["used_memory"])
    found = f"{_megabytes(used)} in use, " + (f"limit {_megabytes(limit)}" if limit else "no limit set")
    return observed(
        not limit or used <= limit * MAX_MEMORY_SHARE,
        "memory of the broker",
        found=found,
        wanted=f"at most {MAX_MEMORY_SHARE:.0%} of the limit",
        remedy="Raise maxmemory, or find out which queue is long: when it is full, messages wait in the outbox.",
    )


def _persistence(info: dict[str, Any]) -> Observation:
    what, wanted = "persistence of the broker", "an append-only file that can be written"
    if not info.get("aof_enabled"):
        remedy = "Set appendonly yes: without it a restart forgets what is queued, and all of it must be sent again."
        return observed(False, what, found="no append-only file", wanted=wanted, remedy=remedy)
    status = str(info.get("aof_last_write_status", "ok"))
    remedy = "Look at the broker's log and at its disk: it takes no more writes."
    return observed(status == "ok", what, found=f"append-only file, last write {status}", wanted=wanted, remedy=remedy)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".") if part.isdigit())


def _megabytes(count: int) -> str:
    return f"{count / 1_048_576:,.1f} MB"
