"""A consumer that RabbitMQ has ended is told of in the event loop, whichever code has read it.

RabbitMQ cancels a consumer whose queue is deleted, and closes a channel on which something was wrong. py-amqp raises
this in the code that reads the connection at that moment. In a worker that may be code which waits for something else
and takes any error for its own: Celery's first look after its start, its remote control, the heartbeat's question about
the queues. The worker then goes on, connected and healthy, and consumes nothing for ever.

Invariant: what has ended a consumer is raised in the event loop before that waits again, whichever code has read it.
"""

from typing import Any

from amqp.exceptions import ConsumerCancelled
from kombu.transport import pyamqp


class AttentiveConnection(pyamqp.Connection):
    """Remembers what has ended one of its consumers until the event loop has heard of it."""

    _loss: Exception | None = None
    _loop: Any = None

    def note_loss(self, error: Exception) -> None:
        """Remember an error. It is to be raised as well: who has no event loop reads by himself."""
        self._loss = error

    def tell_losses_to(self, loop: Any) -> None:
        """Raise in this hub what has ended a consumer."""
        self._loop = loop
        loop.on_tick.add(self._tell_loss)

    def collect(self) -> None:
        """Forget the connection, and what it has lost."""
        if self._loop is not None:
            self._loop.on_tick.discard(self._tell_loss)
        super().collect()

    def _tell_loss(self) -> None:
        if self._loss is not None:
            raise self._loss


class AttentiveChannel(pyamqp.Channel):
    """Tells its connection what has ended a consumer."""

    def _on_basic_cancel(self, consumer_tag: str) -> None:
        try:
            super()._on_basic_cancel(consumer_tag)
        except ConsumerCancelled as error:
            self.connection.note_loss(error)
            raise

    def _on_close(self, *reason: Any) -> None:
        connection, has_consumers = self.connection, bool(self.callbacks)
        try:
            super()._on_close(*reason)
        except Exception as error:  # the channel's, or that of its being opened again
            if has_consumers:
                connection.note_loss(error)
            raise
