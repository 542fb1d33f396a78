"""A RabbitMQ that takes no messages (transport.py) is waited for, over the connection on which it said so."""

from contextlib import suppress
from typing import Any

import kombu

from baton_messaging.broker.rabbitmq.transport import Connection


def is_still_blocked(connection: kombu.Connection, *, seconds: float) -> bool:
    """Listen for so long at most; tell whether the broker takes nothing yet. Raises the connection's errors."""
    broker: Any = connection.connection
    if not isinstance(broker, Connection) or not broker.is_blocked:
        return False
    with suppress(TimeoutError):
        broker.drain_events(timeout=seconds)
    return broker.is_blocked
