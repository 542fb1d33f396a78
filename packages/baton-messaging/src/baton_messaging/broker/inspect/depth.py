"""How many messages a queue holds, counted the same way on both brokers as far as they tell.

On Redis a queue is several lists, one per priority step, and what workers have taken is booked elsewhere: counting one
list sees less than half (F74). RabbitMQ tells clients the number of messages that are ready; those taken are known to
its management plug-in only.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import kombu
from kombu.exceptions import ChannelError
from kombu.utils.encoding import bytes_to_str

from baton_messaging.broker.redis.transport import Channel as RedisChannel

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
    channel = connection.default_channel
    if isinstance(channel, RedisChannel):
        return _on_redis(channel, names)
    return {name: _on_rabbitmq(connection, name) for name in names}


def _on_redis(channel: RedisChannel, queues: list[str]) -> dict[str, Depth]:
    """Ask in one round trip, and at one moment, so that no message is counted twice or not at all."""
    steps = channel.priority_steps
    with channel.conn_or_acquire() as client, client.pipeline(transaction=True) as pipe:
        for queue in queues:
            for step in steps:
                pipe.llen(channel._q_for_pri(queue, step))
        pipe.zrange(channel.unacked_index_key, 0, -1)
        *lengths, tags = pipe.execute()
    taken = Counter(bytes_to_str(tag).rpartition(":")[0] for tag in tags)
    return {
        queue: Depth(waiting=sum(lengths[index * len(steps) : (index + 1) * len(steps)]), taken=taken[queue])
        for index, queue in enumerate(queues)
    }


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
