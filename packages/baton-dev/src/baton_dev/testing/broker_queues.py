"""Queues of a broker under test are deleted and declared by name, whatever other tests have made of them."""

from functools import partial
from typing import Any

import kombu
import redis
from baton_messaging.broker.transports import install
from baton_messaging.maintenance.queue_migration import retry_while_busy
from celery import current_app

from baton_dev.servers.embedded import Valkey
from baton_dev.testing.rabbitmq import RabbitMQ


def delete(name: str, connection: kombu.Connection) -> None:
    channel: Any = connection.default_channel
    channel.queue_delete(name)


def declare(connection: kombu.Connection, queue: kombu.Queue) -> None:
    """Declare a queue whose name may just have been deleted."""
    retry_while_busy(connection, lambda own: queue.bind(own.default_channel).declare())


def lose_everything(service: Valkey | RabbitMQ) -> None:
    """Let a broker come back empty: FLUSHALL; or delete all queues of the project and declare them anew.

    The dead letters, too: one that an earlier test has left keeps the reconciler waiting for a collector.
    """
    if isinstance(service, Valkey):
        with redis.Redis.from_url(service.url) as client:
            client.flushall()
        return
    install()
    queues = current_app.amqp.queues
    with kombu.Connection(service.url, transport_options={"confirm_publish": True}) as broker:
        for name in queues:
            retry_while_busy(broker, partial(delete, name))
        for name in queues:
            declare(broker, queues[name])
