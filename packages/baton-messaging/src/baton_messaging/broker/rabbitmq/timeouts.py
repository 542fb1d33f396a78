"""A deadline bounds the wait for RabbitMQ where a loop has to keep turning.

py-amqp waits for an answer for ever. A RabbitMQ that hangs, on a machine that still acknowledges what it is sent, would
so hold up the event loop of the process that asks.

Hazard: only reading is bounded. A write that gave up half way would leave a connection of no use; what is
asked here is small, and finds room in the network's buffers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import kombu
from amqp import spec
from kombu.transport import pyamqp


@contextmanager
def answering_within(connection: kombu.Connection | None, seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what waits for RabbitMQ longer than that in all. Redis has its ``socket_timeout``."""
    link = connection.connection if connection and connection.connected else None
    if not isinstance(link, DeadlineConnection):
        yield
        return
    link.deadline = monotonic() + seconds
    try:
        yield
    finally:
        link.deadline = None


class DeadlineConnection(pyamqp.Connection):
    """Waits for an answer until ``deadline``, by the monotonic clock."""

    deadline: float | None = None

    def drain_events(self, timeout: float | None = None) -> None:
        """Read until something has come. Raises TimeoutError."""
        if timeout is None and self.deadline is not None:
            timeout = max(0.0, self.deadline - monotonic())
        super().drain_events(timeout)


class DeadlineChannel(pyamqp.Channel):
    """Ends with the answer that nobody waited for: else each of them would cost the connection a channel."""

    connection: Any

    def open(self) -> None:
        """Open the channel. Raises TimeoutError."""
        try:
            super().open()
        except TimeoutError:
            self.send_method(spec.Channel.Close, "BsBB", (0, "", 0, 0))
            raise

    def close(self, *args: Any, **kwargs: Any) -> None:
        """Close the channel. Raises TimeoutError."""
        connection = self.connection
        try:
            super().close(*args, **kwargs)
        except TimeoutError:
            self.connection = connection
            raise
