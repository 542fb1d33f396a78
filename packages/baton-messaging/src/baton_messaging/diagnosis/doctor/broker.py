"""The broker examined: which one is it, and is it set up to keep what it is given?"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

import kombu
from celery import current_app
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis.doctor.database import clock_diagnosis
from baton_messaging.diagnosis.doctor.examination import BROKER, examines, observed
from baton_messaging.health import resource
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.health.resource import Kind, Resource

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
def examine_broker() -> Iterator[Diagnosis]:
    """Say which broker answers, and whether it is set up to keep messages."""
    with broker_connection() as connection:
        channel: Any = connection.channel()
        if connection.transport.driver_type == "redis":
            with channel.conn_or_acquire() as client:
                yield from _redis(client)
        else:
            yield from _rabbitmq(channel.connection.server_properties)


def _rabbitmq(properties: dict[str, Any]) -> Iterator[Diagnosis]:
    product, version = str(properties.get("product", "")), str(properties.get("version", ""))
    yield observed(
        _numbers(version) >= MIN_RABBITMQ,
        _("broker"),
        about=resource.BROKER,
        found=format_lazy(_("{server} answers"), server=f"{product} {version}"),
        wanted=_("RabbitMQ 3.10 or newer"),
        remedy=_("Upgrade RabbitMQ: older quorum queues have no at-least-once dead-lettering."),
    )


def _redis(client: Any) -> Iterator[Diagnosis]:
    before = datetime.now(UTC)
    seconds, microseconds = client.time()
    theirs = datetime.fromtimestamp(seconds + microseconds / 1e6, UTC)
    after = datetime.now(UTC)
    info = client.info()
    name, version = str(info.get("server_name", "redis")).capitalize(), str(info["redis_version"])
    yield observed(
        _numbers(version) >= MIN_REDIS,
        _("broker"),
        about=resource.BROKER,
        found=format_lazy(_("{server} answers"), server=f"{name} {info.get('valkey_version', version)}"),
        wanted=_("Redis 6.2 or newer, or Valkey"),
        remedy=_("Upgrade the broker: older ones lack commands that the transport uses."),
    )
    yield from (_eviction(info), _memory(info), _persistence(info))
    yield clock_diagnosis(_("clock of the broker"), theirs=theirs, before=before, after=after)


def _eviction(info: dict[str, Any]) -> Diagnosis:
    policy = str(info.get("maxmemory_policy", "not told"))
    return observed(
        policy == "noeviction",
        _("eviction policy of the broker"),
        about=Resource(Kind.SETTING, "maxmemory-policy"),
        found=policy,
        wanted="noeviction",
        remedy=_("Set maxmemory-policy noeviction: any other deletes queued messages when memory is full."),
        command="valkey-cli CONFIG SET maxmemory-policy noeviction",
    )


def _memory(info: dict[str, Any]) -> Diagnosis:
    limit, used = int(info.get("maxmemory", 0)), int(info["used_memory"])
    text = _("{used} in use, limit {limit}") if limit else _("{used} in use, no limit set")
    return observed(
        not limit or used <= limit * MAX_MEMORY_SHARE,
        _("memory of the broker"),
        about=Resource(Kind.SETTING, "maxmemory"),
        found=format_lazy(text, used=_megabytes(used), limit=_megabytes(limit)),
        wanted=format_lazy(_("at most {share} of the limit"), share=f"{MAX_MEMORY_SHARE:.0%}"),
        remedy=_("Raise maxmemory, or find out which queue is long: when it is full, messages wait in the outbox."),
    )


def _persistence(info: dict[str, Any]) -> Diagnosis:
    is_kept, status = bool(info.get("aof_enabled")), str(info.get("aof_last_write_status", "ok"))
    text = _("append-only file, last write {status}") if is_kept else _("no append-only file")
    kept = _("Look at the broker's log and at its disk: it takes no more writes.")
    not_kept = _("Set appendonly yes: without it a restart forgets what is queued, and all of it must be sent again.")
    return observed(
        is_kept and status == "ok",
        _("persistence of the broker"),
        about=Resource(Kind.SETTING, "appendonly"),
        found=format_lazy(text, status=status),
        wanted=_("an append-only file that can be written"),
        remedy=kept if is_kept else not_kept,
        command="" if is_kept else "valkey-cli CONFIG SET appendonly yes",
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".") if part.isdigit())


def _megabytes(count: int) -> str:
    return f"{count / 1_048_576:,.1f} MB"
