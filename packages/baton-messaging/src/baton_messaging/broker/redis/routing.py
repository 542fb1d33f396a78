"""A message is routed to its queue also after the broker came back empty, or refused: it is never lost silently.

kombu keeps the bindings of an exchange in a Redis set. A server that was emptied has forgotten them, while a
connection that declared its queues does not declare them again: kombu then drops what is published. Here the project's
own queues are known from the transport options (``exchange``, ``queues``): in that exchange the routing key is the
name of the queue. That also saves reading the set for each message.

A full server refuses to note a binding. A worker that starts there would die of that, again and again, while it is the
one who makes room. So it goes on without; what may be missing until it is restarted are answers to remote control.
"""

from collections.abc import Collection
from typing import Any

import structlog
from kombu.transport import redis as kombu_redis
from redis.exceptions import OutOfMemoryError

from baton_messaging.broker.errors import UnroutableMessage

log = structlog.get_logger(__name__)


class RoutingChannel(kombu_redis.Channel):
    """A channel that knows the project's queues without asking Redis."""

    exchange: str = ""
    queues: Collection[str] = ()

    def basic_publish(self, message: dict[str, Any], exchange: str, routing_key: str, **kwargs: Any) -> Any:
        """Publish. Raises UnroutableMessage; to the default exchange only when ``mandatory``, as in AMQP."""
        if not exchange and kwargs.get("mandatory") and not self._is_declared(routing_key):
            raise UnroutableMessage(exchange, routing_key)
        return super().basic_publish(message, exchange, routing_key, **kwargs)

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        try:
            super()._queue_bind(exchange, routing_key, pattern, queue)
        except OutOfMemoryError:
            log.warning("binding_not_noted", queue=queue, why="the broker's memory is full")

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> Collection[str]:
        if exchange and exchange == self.exchange and routing_key in self.queues:
            return [routing_key]
        queues: Collection[str] = super()._lookup(exchange, routing_key, default)
        if not queues and self._must_route(exchange):
            raise UnroutableMessage(exchange, routing_key)
        return queues

    def _is_declared(self, queue: str) -> bool:
        return queue in self.queues or queue in self.state.queue_index

    def _must_route(self, exchange: str) -> bool:
        """Answers to remote control go through an exchange that is not durable; nobody may be waiting for them."""
        declared = self.state.exchanges.get(exchange)
        return declared is None or bool(declared["durable"])
