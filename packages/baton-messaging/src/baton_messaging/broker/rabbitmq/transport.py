"""kombu's RabbitMQ transport, taught to publish many messages and wait for their confirms together.

py-amqp waits for the confirm of each message, a journey to the disk and back. With ``Producer.batch()`` (batch.py)
this channel sends on and waits at the end. It also tells confirms apart by their number, so that one that comes late is
not taken for the next message's, and raises UnroutableMessage after the confirm, not before it.

A RabbitMQ that is short of memory or disk reads no more from a publisher, for as long as it is: no confirm comes,
and no answer to a farewell. It says so, and then each caller is told at once (BrokerBlocked) instead of waiting: a
worker's events must not keep it from consuming, which is what empties the broker.

Its workers hear of every consumer that RabbitMQ ends (consumer_cancel.py), and wait for an answer no longer than they
want to (timeouts.py).

What is larger or packed otherwise than it may be is neither read whole nor unpacked (bounded_frames.py, bounds.py).

Leases, dead-lettering and the delivery limit are RabbitMQ's own: see the arguments in routing/queues.py.
"""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from amqp.exceptions import MessageNacked, RecoverableConnectionError
from kombu.exceptions import OperationalError
from kombu.transport import pyamqp

from baton_messaging.broker.bounds import MAX_RAW_BYTES, BoundedMessage
from baton_messaging.broker.client_name import client_name
from baton_messaging.broker.errors import UnroutableMessage
from baton_messaging.broker.rabbitmq.batch import CONFIRM_TIMEOUT, ConfirmedBatch
from baton_messaging.broker.rabbitmq.bounded_frames import bounded_frame_handler
from baton_messaging.broker.rabbitmq.consumer_cancel import AttentiveChannel, AttentiveConnection
from baton_messaging.broker.rabbitmq.timeouts import DeadlineChannel, DeadlineConnection

#: Between two calls of whoever waits for confirms, so that it can say that it does.
WAIT_SECONDS: Final = 1.0
BLOCKED: Final = "The broker is short of memory or disk, and takes no messages until it has some again."


class BrokerBlocked(OperationalError):
    """The broker takes no messages from this connection until it has memory or disk again.

    No error of the connection on purpose: kombu and Celery would connect anew at once and for ever, and RabbitMQ keeps
    each connection that it does not read from.
    """

    def __init__(self, text: str = BLOCKED) -> None:  # the text, since an error crosses processes by it
        super().__init__(text)


class Message(pyamqp.Message, BoundedMessage):
    """A message that is not unpacked unless it may be."""


class Channel(AttentiveChannel, DeadlineChannel):
    """A channel that knows which of its messages are not confirmed yet."""

    Message = Message
    _confirm_selected: bool
    _published_count: int
    _unconfirmed: set[int]
    _refusals: list[Exception]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._forget_publishes()
        super().__init__(*args, **kwargs)

    @property
    def supports_batch_publish(self) -> bool:
        """Tell whether there are confirms to wait for."""
        return bool(self.connection and self.connection.confirm_publish)

    def create_publish_batch(self, max_size: int) -> ConfirmedBatch:
        """Return a batch for ``Producer.batch()``."""
        return ConfirmedBatch(self, max_size)

    def basic_publish(self, *args: Any, **kwargs: Any) -> Any:
        """Publish, on a connection without confirms. Raises BrokerBlocked."""
        if self.connection:
            self.connection.check_unblocked()
        return super().basic_publish(*args, **kwargs)

    def basic_publish_confirm(self, *args: Any, **kwargs: Any) -> Any:
        """Publish and wait for the confirm. Raises MessageNacked, UnroutableMessage, RecoverableConnectionError."""
        timeout = kwargs.pop("confirm_timeout", None) or kwargs.get("timeout") or CONFIRM_TIMEOUT
        result = self.publish_unconfirmed(*args, **kwargs)
        self.await_confirms(timeout)
        return result

    def publish_unconfirmed(self, *args: Any, **kwargs: Any) -> Any:
        """Publish without waiting. Every call must be followed by ``await_confirms``. Raises BrokerBlocked."""
        if self.connection:
            self.connection.check_unblocked()
        if not self._confirm_selected:
            self.confirm_select()
            self._confirm_selected = True
        result = self._basic_publish(*args, **kwargs)
        self._published_count += 1
        self._unconfirmed.add(self._published_count)
        return result

    @property
    def unconfirmed_count(self) -> int:
        """Return how many messages are not confirmed yet."""
        return len(self._unconfirmed)

    def await_confirms(self, timeout_seconds: float) -> None:
        """Wait until all messages are confirmed; raise the first thing that went wrong with any of them.

        When the broker blocks meanwhile, what was sent may still arrive once it takes messages again.
        """
        started = monotonic()
        deadline = started + timeout_seconds
        while self._unconfirmed:
            remaining = deadline - monotonic()
            if not self.connection or remaining <= 0:
                raise RecoverableConnectionError(f"{len(self._unconfirmed)} messages not confirmed by the broker")
            try:
                self.connection.drain_events(timeout=min(remaining, WAIT_SECONDS))
            except TimeoutError:
                self.connection.while_unconfirmed(len(self._unconfirmed), monotonic() - started)
                continue
            if self.connection and self.connection.is_blocked:
                self._forget_unconfirmed()
                raise BrokerBlocked
        refusals, self._refusals = self._refusals, []
        if refusals:
            raise refusals[0]

    def close(self, *args: Any, **kwargs: Any) -> None:
        """Close; without a farewell to a broker that does not listen."""
        if self.connection and self.connection.is_blocked:
            self.collect()
        else:
            super().close(*args, **kwargs)

    def collect(self) -> None:
        """Forget the connection, and what it owed us."""
        self._forget_publishes()
        super().collect()

    def _do_revive(self) -> None:
        self._forget_publishes()
        super()._do_revive()

    def _forget_publishes(self) -> None:
        self._published_count = 0
        self._forget_unconfirmed()

    def _forget_unconfirmed(self) -> None:
        self._unconfirmed = set()
        self._refusals = []

    def _on_basic_ack(self, delivery_tag: int, multiple: bool) -> None:
        if multiple:
            self._unconfirmed = {number for number in self._unconfirmed if number > delivery_tag}
        else:
            self._unconfirmed.discard(delivery_tag)
        super()._on_basic_ack(delivery_tag, multiple)

    def _on_basic_nack(self, delivery_tag: int, multiple: bool) -> None:
        self._refusals.append(MessageNacked())
        self._on_basic_ack(delivery_tag, multiple)

    def _on_basic_return(self, _code: int, _text: str, exchange: str, routing_key: str, _message: Any) -> None:
        self._refusals.append(UnroutableMessage(exchange, routing_key))


class Connection(AttentiveConnection, DeadlineConnection):
    """A connection with such channels, which knows whether the broker listens."""

    Channel = Channel
    is_blocked = False
    #: Called each second with how many messages are not confirmed yet, and for how many seconds.
    while_unconfirmed: Callable[[int, float], object] = staticmethod(lambda _count, _seconds: None)

    def __init__(self, *args: Any, max_raw_bytes: int = MAX_RAW_BYTES, **kwargs: Any) -> None:
        kwargs.pop("accept_compression", None)  # bounds.py reads it where it is given: in the transport options
        self.max_raw_bytes = max_raw_bytes
        name = {"connection_name": client_name()} if client_name() else {}
        kwargs["client_properties"] = {**name, **(kwargs.get("client_properties") or {})}
        super().__init__(*args, frame_handler=bounded_frame_handler, **kwargs)

    def check_unblocked(self) -> None:
        """Read what the broker has said meanwhile. Raises BrokerBlocked."""
        if self.is_blocked:
            with suppress(TimeoutError):
                self.drain_events(timeout=0)
        if self.is_blocked:
            raise BrokerBlocked

    def close(self, *args: Any, **kwargs: Any) -> Any:
        """Close; without a farewell to a broker that does not listen."""
        if self.is_blocked:
            return self.collect()
        return super().close(*args, **kwargs)

    def _on_blocked(self) -> None:
        self.is_blocked = True
        super()._on_blocked()

    def _on_unblocked(self) -> None:
        self.is_blocked = False
        super()._on_unblocked()


class Transport(pyamqp.Transport):
    """``amqp://``."""

    Connection = Connection
    implements = pyamqp.Transport.implements.extend(batch_publish=True)

    def register_with_event_loop(self, connection: AttentiveConnection, loop: Any) -> None:
        """Let a worker's event loop read what comes, and hear of what ended its consumers."""
        super().register_with_event_loop(connection, loop)
        connection.tell_losses_to(loop)


class SSLTransport(Transport, pyamqp.SSLTransport):
    """``amqps://``."""
