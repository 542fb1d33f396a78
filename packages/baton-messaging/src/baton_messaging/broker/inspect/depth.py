"""The depth of a queue is counted the same way on both brokers, as far as they tell.

RabbitMQ tells clients the number of messages that are ready; those taken are known to its management plug-in only.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import kombu
from kombu.exceptions import ChannelError

NOT_FOUND = 404


@dataclass(frozen=True)
class Depth:
    """Messages waiting, messages taken and not ended, connected consumers; None where the broker does not say."""

    waiting: int
    taken: int | None
    consumer_count: int | None = field(default=None, compare=False)

    @property
    def total(self) -> int:
        """Return all that is known of."""
        return self.waiting + (self.taken or 0)


def depths(connection: kombu.Connection, queues: Iterable[str]) -> dict[str, Depth]:
    """Return the depth of each queue; a queue that does not exist holds nothing.

    Raises the connection's errors.
    """
    names = list(queues)
    if connection.transport.driver_type == "redis":
        channel: Any = connection.default_channel
        return {name: Depth(waiting, taken) for name, (waiting, taken) in channel.counts(names).items()}
    return {name: _on_rabbitmq(connection, name) for name in names}


def _on_rabbitmq(connection: kombu.Connection, queue: str) -> Depth:
    # A channel of its own: RabbitMQ closes the channel on which somebody asks for a queue that does not exist.
    channel: Any = connection.channel()
    try:
        declared = channel.queue_declare(queue=queue, passive=True)
        return Depth(waiting=int(declared.message_count), taken=None, consumer_count=int(declared.consumer_count))
    except ChannelError as error:
        if error.reply_code != NOT_FOUND:
            raise
        return Depth(waiting=0, taken=None, consumer_count=0)
    finally:
        channel.close()
