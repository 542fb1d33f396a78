"""Declarations of the code may differ from what the broker has: RabbitMQ refuses such a queue (406, F18).

Redis knows no arguments of queues, so nothing is ever declared otherwise there.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import kombu
import structlog
from amqp.exceptions import PreconditionFailed

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Misdeclared:
    """One such queue, and what the broker says of it."""

    queue: str
    detail: str

    @property
    def remedy(self) -> str:
        """Return the command that makes it right without losing what is in the queue."""
        return remedy_for(self.queue)

    def log(self) -> None:
        """Say it, with the remedy."""
        log.error("queue_declared_otherwise", queue=self.queue, remedy=self.remedy, broker_says=self.detail)


def remedy_for(queue: str) -> str:
    """Return the command that gives a queue its new arguments."""
    return f"python manage.py migrate_queue {queue}"


def misdeclared(connection: kombu.Connection, queues: Iterable[kombu.Queue]) -> list[Misdeclared]:
    """Declare the queues; return those that exist otherwise. Raises the connection's errors."""
    if connection.transport.driver_type != "amqp":
        return []
    found = []
    for queue in queues:
        channel: Any = connection.channel()  # of its own: the broker closes the one on which it refuses
        try:
            queue.bind(channel).declare()
        except PreconditionFailed as error:
            found.append(Misdeclared(queue.name, str(error.reply_text)))
        finally:
            channel.close()
    return found
