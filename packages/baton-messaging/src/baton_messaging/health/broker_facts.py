"""Facts about the broker: which server it is, its role, its room, and how its queues differ from what is declared."""

from collections.abc import Iterator
from typing import Any, Final

import kombu
from amqp.exceptions import AccessRefused, NotFound, PreconditionFailed
from celery import current_app

from baton_messaging.database.deadline import Deadline
from baton_messaging.health.redaction import quoted

_REDIS: Final = (
    "server_name", "redis_version", "valkey_version", "run_id", "uptime_in_seconds", "role", "master_host",
    "master_port", "master_link_status", "connected_slaves", "min_slaves_good_slaves", "used_memory", "maxmemory",
    "maxmemory_policy",
    "evicted_keys", "loading", "aof_enabled", "aof_last_write_status", "aof_last_bgrewrite_status",
    "rdb_last_bgsave_status", "connected_clients", "blocked_clients", "maxclients", "cluster_enabled",
)  # fmt: skip


def redis_facts(connection: kombu.Connection) -> dict[str, Any]:
    """Return what INFO tells of the server, in its own names."""
    channel: Any = connection.default_channel
    with channel.conn_or_acquire() as client:
        info = client.info()
    return {name: info[name] for name in _REDIS if name in info}


def rabbitmq_facts(connection: kombu.Connection, deadline: Deadline) -> dict[str, Any]:
    """Return what the server says of itself, and of each of the project's queues. Declares none that is not there.

    What a policy changes at a queue (time to live, length, dead-lettering) is not told to clients.
    """
    link: Any = connection.connection
    told = link.server_properties
    facts: dict[str, Any] = {name: str(told.get(name, "")) for name in ("product", "version", "cluster_name")}
    facts |= {"is_blocked": link.is_blocked, "policies": "not known: not told to clients"}
    if link.is_blocked:
        return facts
    queues: dict[str, dict[str, int]] = {}
    facts |= {"queues": queues, "missing": [], "different": {}, "not_permitted": {}}
    for queue in project_queues():
        if deadline.has_passed:
            break
        for kind, found in _asked(connection, queue):
            if kind == "missing":
                facts["missing"].append(queue.name)
            else:
                facts[kind][queue.name] = found
    return facts


def project_queues() -> list[kombu.Queue]:
    """Return the queues as the project declares them."""
    return list(current_app.amqp.queues.values())


def _asked(connection: kombu.Connection, queue: kombu.Queue) -> Iterator[tuple[str, Any]]:
    """Ask for the queue, then declare and bind it as a worker does, which changes nothing where it is there.

    On a channel of its own each: the broker closes the one on which it refuses.
    """
    channel: Any = connection.channel()
    try:
        counts = channel.queue_declare(queue=queue.name, passive=True)
    except NotFound:
        yield "missing", None
        return
    finally:
        channel.close()
    yield "queues", {"messages": int(counts.message_count), "consumers": int(counts.consumer_count)}
    channel = connection.channel()
    try:
        declared = queue.bind(channel)
        declared.queue_declare()
        declared.queue_bind()
    except PreconditionFailed as error:
        yield "different", quoted(str(error.reply_text))
    except AccessRefused as error:
        yield "not_permitted", quoted(str(error.reply_text))
    finally:
        channel.close()
