"""A connection to the broker as the work has one, which waits for nothing beyond a deadline."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import kombu
from celery import current_app

from baton_messaging.broker.rabbitmq.timeouts import answering_within
from baton_messaging.database.deadline import Deadline

#: RabbitMQ writes to each connection this often, and so notices one that it does not read from, and which is gone.
_HEARTBEAT_SECONDS: Final = 10


@contextmanager
def broker_connection(deadline: Deadline, *, is_write: bool = False) -> Iterator[kombu.Connection]:
    """Connect as a worker does, or with ``is_write`` as the relay does, and wait for nothing beyond the deadline.

    Raises the connection's errors. Hazard: of Redis each answer may take as long as was left in the beginning.
    """
    app: Any = current_app
    connect = app.connection_for_write if is_write else app.connection_for_read
    seconds = deadline.seconds_left
    connection = connect(connect_timeout=seconds, heartbeat=_HEARTBEAT_SECONDS)
    limits: dict[str, Any] = {"socket_timeout": seconds, "socket_connect_timeout": seconds}
    if connection.transport.driver_type == "amqp":
        limits = {"read_timeout": seconds, "write_timeout": seconds}
    connection.transport_options = {**(connection.transport_options or {}), **limits, "max_retries": 0}
    try:
        connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=seconds)
        with answering_within(connection, seconds):
            yield connection
    finally:
        connection.release()


def is_amqp(connection: kombu.Connection) -> bool:
    """Tell RabbitMQ from Redis."""
    return bool(connection.transport.driver_type == "amqp")


def server_of(connection: Any) -> str:
    """Return host:port/name without the login; of several addresses the one in use."""
    port = connection.port or connection.transport.default_port
    return f"{connection.hostname}:{port}/{(connection.virtual_host or '').strip('/')}"
