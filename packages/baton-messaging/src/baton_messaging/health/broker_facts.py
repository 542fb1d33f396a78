"""Facts about the broker: which server it is, its role, its room, and how its queues differ from what is declared."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import kombu
from amqp.exceptions import AccessRefused, NotFound, PreconditionFailed
from celery import current_app

from baton_messaging.conf import baton
from baton_messaging.database.deadline import Deadline
from baton_messaging.health.rabbitmq_management import management_facts
from baton_messaging.health.redaction import quoted
from baton_messaging.health.redis_keys import key_facts
from baton_messaging.health.refusals import classify

_REDIS: Final = (
    "uptime_in_seconds", "role", "master_host", "master_port", "master_link_status", "connected_slaves",
    "min_slaves_good_slaves", "used_memory", "maxmemory", "maxmemory_policy", "evicted_keys", "evicted_clients",
    "client_output_buffer_limit_disconnections", "client_query_buffer_limit_disconnections", "loading", "aof_enabled",
    "aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status", "connected_clients",
    "blocked_clients", "maxclients", "cluster_enabled", "paused_reason", "paused_actions",
    "paused_timeout_milliseconds",
)  # fmt: skip


def redis_facts(connection: kombu.Connection) -> dict[str, Any]:
    """Return what INFO tells of the server, in its own names, and what is wrong with the keys of our queues."""
    channel: Any = connection.default_channel
    with channel.conn_or_acquire() as client:
        info = client.info()
    product = str(info.get("server_name", "redis")).capitalize()
    version = str(info.get("valkey_version") or info.get("redis_version", ""))
    server = {"product": product, "version": version, "id": str(info.get("run_id", ""))}
    told = {name: info[name] for name in _REDIS if name in info}
    return {"server": server, **told, **key_facts(channel, [queue.name for queue in project_queues()])}


def pause(facts: Mapping[str, Any]) -> str:
    """Return that clients are paused, by whom and what they may not do; empty if they are not (CLIENT PAUSE)."""
    reason = facts.get("paused_reason", "none")
    if reason == "none":
        return ""
    left = int(facts.get("paused_timeout_milliseconds") or 0) / 1_000
    return f"paused_reason:{reason} paused_actions:{facts.get('paused_actions', '?')}, for {left:.0f} s more"


def hung_up_on(facts: Mapping[str, Any]) -> str:
    """Return which limits on clients the server has ended connections for since its start; empty if for none."""
    names = ("evicted_clients", "client_output_buffer_limit_disconnections", "client_query_buffer_limit_disconnections")
    return ", ".join(f"{name}:{facts[name]}" for name in names if int(facts.get(name) or 0))


def rabbitmq_facts(connection: kombu.Connection, deadline: Deadline) -> dict[str, Any]:
    """Return what the server says of itself, and of each of the project's queues. Declares none that is not there.

    What a policy changes at a queue (time to live, length, dead-lettering) is not told to clients, only by the API of
    the management plug-in.
    """
    link: Any = connection.connection
    told = link.server_properties
    names = {"product": "product", "version": "version", "id": "cluster_name"}
    facts: dict[str, Any] = {"server": {name: str(told.get(theirs, "")) for name, theirs in names.items()}}
    facts |= {"is_blocked": link.is_blocked, **_managed(connection, deadline)}
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


def _managed(connection: kombu.Connection, deadline: Deadline) -> dict[str, Any]:
    url: str = baton().rabbitmq_management_url
    if not url:
        return {"policies": "not known: only BATON['RABBITMQ_MANAGEMENT_URL'] tells them"}
    try:
        return management_facts(url, connection.virtual_host or "/", project_queues(), deadline)
    except Exception as error:  # the broker may work without its API
        return {"policies": f"not known: {classify(error).said}"}


def project_queues() -> list[kombu.Queue]:
    """Return the queues as the project declares them."""
    return list(current_app.amqp.queues.values())


def forbidden_to_consume(connection: kombu.Connection, queue: str) -> str:
    """Return what the server says if it lets nobody of ours read: bind a queue that is there, as each worker does."""
    channel: Any = connection.channel()
    (declared,) = (known for known in project_queues() if known.name == queue)
    try:
        declared.bind(channel).queue_bind()
    except AccessRefused as error:
        return quoted(str(error.reply_text))
    finally:
        channel.close()
    return ""


def _asked(connection: kombu.Connection, queue: kombu.Queue) -> Iterator[tuple[str, Any]]:
    """Ask for the queue, then declare it as a worker does, which changes nothing where it is there.

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
        queue.bind(channel).queue_declare()
    except PreconditionFailed as error:
        yield "different", quoted(str(error.reply_text))
    except AccessRefused as error:
        yield "not_permitted", quoted(str(error.reply_text))
    finally:
        channel.close()
