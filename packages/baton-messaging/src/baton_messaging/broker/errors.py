"""Errors of the brokers' clients say that the broker is away, or that no queue takes a message.

kombu always brings the client of RabbitMQ; that of Redis is an extra, and without it none of its errors can be raised.
"""

from typing import Any, Final

import amqp.exceptions
import kombu.exceptions

try:
    from redis.exceptions import RedisError  # also "OOM command not allowed": a full Redis takes nothing (F35)
except ModuleNotFoundError:
    _OF_REDIS: tuple[type[Exception], ...] = ()
else:
    _OF_REDIS = (RedisError,)

#: The broker is away, hangs up, or takes nothing from anybody.
BROKER_ERRORS: Final = (kombu.exceptions.OperationalError, amqp.exceptions.AMQPError, *_OF_REDIS, OSError)

NO_ROUTE: Final = 312  # AMQP's reply code
BASIC_PUBLISH: Final = (60, 40)  # AMQP's number of the method that failed


class UnroutableMessage(kombu.exceptions.ChannelError):
    """No queue takes messages for this exchange and routing key: what RabbitMQ answers to a mandatory message."""

    def __init__(self, exchange: str, routing_key: str) -> None:
        self._place = exchange, routing_key
        super().__init__(
            f"NO_ROUTE - expected a queue bound to exchange '{exchange}' for routing key '{routing_key}', found none. "
            "Declare the queue in Celery's task_queues.",
            BASIC_PUBLISH,
            "Basic.publish",
            NO_ROUTE,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Be rebuilt of its place: an error crosses from a child to its worker by pickle."""
        return type(self), self._place
