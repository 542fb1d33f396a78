"""A message is routed to its queue also after the broker came back empty, or refused: it is never lost silently.

kombu keeps the bindings of an exchange in a Redis set. A server that was emptied has forgotten them, while a
connection that declared its queues does not declare them again: kombu then drops what is published. Here the project's
own queues are known from the transport options (``exchange``, ``queues``): in that exchange the routing key is the
name of the queue. That also saves reading the set for each message.

Remote control leaves nothing behind. kombu notes in a set which queue an asker has for its answers, and in another
under which name each worker listens; what is killed stays there, and so do its answers. Here the queue of the answers
follows from its routing key, broadcasts go by PUBLISH and need no note, and answers expire (notify.py).

A full server refuses to note a binding. A worker that starts there would die of that, again and again, while it is the
one that makes room. So it goes on without.
"""

from collections.abc import Collection
from typing import Any

import structlog
from kombu.transport import redis as kombu_redis
from redis.exceptions import OutOfMemoryError

from baton_messaging.broker.errors import UnroutableMessage
from baton_messaging.broker.redis.notify import ANSWERS, is_for_answers

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
        if self.typeof(exchange).type == "fanout":
            self._fanout_queues[queue] = (exchange, routing_key.replace("#", "*"))  # as kombu does; it also notes it
            return
        if ANSWERS.fullmatch(exchange):
            return
        try:
            super()._queue_bind(exchange, routing_key, pattern, queue)
        except OutOfMemoryError:
            log.warning("binding_not_noted", queue=queue, why="the broker's memory is full")

    def _refresh_bindings(self, queues: Collection[str]) -> None:
        """Keep alive the notes of what is noted at all."""
        super()._refresh_bindings([queue for queue in queues if not self._is_unnoted(queue)])

    def _is_unnoted(self, queue: str) -> bool:
        return queue in self._fanout_queues or is_for_answers(queue)

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> Collection[str]:
        if ANSWERS.fullmatch(exchange):
            return [f"{routing_key}.{exchange}"]
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
