"""The broker's own list of consumers is compared with the heartbeats: consumers unknown here, workers unknown there.

On Redis, CLIENT LIST: our connections carry their process's name (broker/client_name.py). On RabbitMQ a client can
only count the consumers of a queue; if there are more than we know, all workers are asked who they are.

A worker on another database writes its heartbeat there: it takes our messages, and their effects are not here.
"""

import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from time import monotonic
from typing import Any, Final

import kombu
from celery import current_app

from baton_messaging.broker.client_name import ClientName, read_client_name
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.broker.rabbitmq.timeouts import answering_within
from baton_messaging.conf import baton
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Role
from baton_messaging.processes.strangers import Stranger, foreign_client, miscounted, unknown_here, unknown_there
from baton_messaging.processes.wiring import broker_address
from baton_messaging.processes.worker_answers import WorkerAnswer, ask_workers
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE

#: Roles that take messages from the broker, or put some there.
_AT_THE_BROKER: Final = (Role.WORKER, Role.RELAY, Role.COLLECTOR)
#: Commands that take messages out of a list: of clients that are none of ours.
_TAKING: Final = ("brpop", "blpop", "brpoplpush", "blmove")
ANSWER_SECONDS: Final = 0.4  # that a worker gets to say who it is


def unknown_consumers(broker: kombu.Connection, deadline_seconds: float) -> list[Diagnosis]:
    """Return who consumes here without a heartbeat in this database, and which worker the broker does not know.

    Asks for ``deadline_seconds`` at most. Raises the broker's and the database's errors.
    """
    known = list(Heartbeat.objects.filter(role__in=_AT_THE_BROKER))
    until = monotonic() + deadline_seconds
    with answering_within(broker, deadline_seconds):
        if broker.transport.driver_type == "redis":
            return [*_on_redis(broker, known, until)]
        return [*_on_rabbitmq(broker, known, until)]


def named_clients(broker: kombu.Connection) -> list[tuple[ClientName, dict[str, Any]]]:
    """Return the connections of Baton's processes to a Redis, and what it says of each. Raises the broker's errors."""
    channel: Any = broker.default_channel
    with channel.conn_or_acquire() as client:
        clients: list[dict[str, Any]] = client.client_list()
    return [(name, told) for told in clients if (name := read_client_name(told["name"]))]


# --- Redis -----------------------------------------------------------------------------------------------------------


def _on_redis(broker: kombu.Connection, known: Sequence[Heartbeat], until: float) -> Iterator[Diagnosis]:
    here = {(row.name, row.hostname, row.pid) for row in known}
    myself = (socket.gethostname(), os.getpid())  # who asks is no stranger, whether it beats or not
    clients: dict[ClientName, dict[str, Any]] = {}
    for name, told in named_clients(broker):
        if name.role in _AT_THE_BROKER and int(told["age"]) >= int(clients.get(name, {"age": 0})["age"]):
            clients[name] = told
    strangers = [
        Stranger(name.role, name.name, name.pid, name.hostname, str(told["addr"]), name.database)
        for name, told in sorted(clients.items(), key=lambda item: str(item[0]))
        if (name.name, name.hostname, name.pid) not in here
        and (name.hostname, name.pid) != myself
        and int(told["age"]) >= _settling_seconds()
    ]
    yield from map(unknown_here, _with_queues(broker, strangers, until))
    yield from _nameless(broker)
    if clients:  # else they may not tell their names, or the broker may not list them
        there = {(name.name, name.hostname, name.pid) for name in clients}
        yield from (
            unknown_there(row)
            for row in known
            if row.role != Role.RELAY  # with nothing to send it holds no connection to Redis
            and _should_be_connected(row, broker)
            and (row.name, row.hostname, row.pid) not in there
        )


def _with_queues(broker: kombu.Connection, strangers: list[Stranger], until: float) -> list[Stranger]:
    """Ask the workers among them what they consume, while there is time."""
    names = [one.name for one in strangers if one.role == Role.WORKER]
    seconds = min(ANSWER_SECONDS, until - monotonic())
    if not names or seconds <= 0:
        return strangers
    queues = {(one.name, one.pid): one.queues for one in ask_workers(broker, names=names, seconds=seconds)}
    return [
        Stranger(**{**vars(one), "queues": queues.get((one.name, one.pid), ())}) if one.role == Role.WORKER else one
        for one in strangers
    ]


def _nameless(broker: kombu.Connection) -> Iterator[Diagnosis]:
    """Find clients that take from lists and are no process of Baton's: a plain Celery worker, a script."""
    channel: Any = broker.default_channel
    with channel.conn_or_acquire() as client:
        database = str(client.connection_pool.connection_kwargs.get("db", 0))
        clients: list[dict[str, Any]] = client.client_list()
    for told in clients:
        if told["cmd"] in _TAKING and str(told["db"]) == database and not read_client_name(told["name"]):
            yield foreign_client(Stranger("", told["name"] or told["cmd"].upper(), address=str(told["addr"])))


# --- RabbitMQ --------------------------------------------------------------------------------------------------------


def _on_rabbitmq(broker: kombu.Connection, known: Sequence[Heartbeat], until: float) -> Iterator[Diagnosis]:
    workers = [row for row in known if row.role == Role.WORKER]
    names = [name for name in current_app.amqp.queues if name != DEAD_LETTER_QUEUE]
    counts = {name: depth.consumer_count or 0 for name, depth in depths(broker, names).items()}
    expected = {name: [row for row in workers if name in row.queues] for name in names}
    crowded = {name for name in names if counts[name] > len(expected[name])}
    seconds = min(ANSWER_SECONDS, until - monotonic())
    if crowded and seconds > 0:
        unknown = [*_unknown(ask_workers(broker, names=None, seconds=seconds), workers, crowded)]
        # The first heartbeat of one that has just started is still to come.
        yield from (unknown_here(_stranger(one)) for one in unknown if one.uptime_seconds >= _settling_seconds())
        crowded -= {queue for one in unknown for queue in one.queues}
    for name in sorted(crowded):
        yield miscounted(name, counts[name], expected[name])
    for name in names:
        if counts[name] < len([row for row in expected[name] if _should_be_connected(row, broker)]):
            yield miscounted(name, counts[name], expected[name])


def _unknown(
    answers: Iterable[WorkerAnswer], workers: Sequence[Heartbeat], queues: Iterable[str]
) -> Iterator[WorkerAnswer]:
    """Return the workers that consume one of the queues, and have no heartbeat here."""
    here = {(row.name, row.hostname, row.pid) for row in workers}
    wanted = {*queues}
    return (one for one in answers if wanted & {*one.queues} and (one.name, one.hostname, one.pid) not in here)


def _stranger(one: WorkerAnswer) -> Stranger:
    return Stranger(Role.WORKER, one.name, one.pid, one.hostname, "", one.database, one.queues)


def _settling_seconds() -> float:
    """Return how long a process may be connected before its first heartbeat is here."""
    return 2 * baton().heartbeat_seconds


def _should_be_connected(row: Heartbeat, broker: kombu.Connection) -> bool:
    """Tell whether a process is at work at this broker; one at another is told by comparison.py."""
    age = (row.looked_at - row.started_at).total_seconds()
    address = row.wiring.get("broker", {}).get("address")
    is_here = bool(address == broker_address(broker))
    return row.is_fresh and row.is_consuming and age >= _settling_seconds() and is_here
