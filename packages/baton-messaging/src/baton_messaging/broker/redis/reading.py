"""Queues on Redis are read without touching them: what waits in their lists, and what workers have taken.

On Redis a queue is several lists, one per priority step, and what workers have in flight is kept in ``unacked``:
counting one list sees less than half (F74).
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from kombu.utils.encoding import bytes_to_str

from baton_messaging.broker.redis.dequeue import DequeuingChannel
from baton_messaging.broker.redis.unacked import UnackedDelivery

_CHUNK: Final = 500  # messages read at a time


class Copy(NamedTuple):
    """One message as Redis has it. ``ahead_count`` says how many are before it; None: a worker has taken it."""

    queue: str
    ahead_count: int | None
    raw: bytes


class ReadableChannel(DequeuingChannel):
    """A channel that lets its queues be counted and read."""

    def counts(self, queues: Collection[str]) -> dict[str, tuple[int, int]]:
        """Return how many messages of each queue wait, and how many are taken.

        In one round trip and at one moment, so that no message is counted twice or not at all.
        """
        steps = self.priority_steps
        with self.conn_or_acquire() as client, client.pipeline(transaction=True) as pipe:
            for queue in queues:
                for step in steps:
                    pipe.llen(self._q_for_pri(queue, step))
            pipe.zrange(self.unacked_index_key, 0, -1)
            *lengths, tags = pipe.execute()
        taken = Counter(bytes_to_str(tag).rpartition(":")[0] for tag in tags)
        return {
            queue: (sum(lengths[index * len(steps) : (index + 1) * len(steps)]), taken[queue])
            for index, queue in enumerate(queues)
        }

    def copies(self, queues: Collection[str]) -> Iterator[Copy]:
        """Yield what waits in the queues, then what is taken from them. New ones come in on the left: none is missed.

        kombu's client puts the prefix of all keys before those of the commands it uses itself, which these two are not.
        """
        with self.conn_or_acquire() as client:
            for queue in queues:
                for step in self.priority_steps:
                    key, start = self._q_for_pri(queue, step), 0
                    length = client.llen(key)
                    while chunk := client.lrange(self.key(key), start, start + _CHUNK - 1):
                        for at, raw in enumerate(chunk):
                            yield Copy(queue, max(0, length - 1 - start - at), raw)
                        start += _CHUNK
            for tag, text in client.hscan_iter(self.key(self.unacked_key), count=_CHUNK):
                delivery = UnackedDelivery.read(tag.decode(), text)
                if delivery.queue in queues:
                    yield Copy(delivery.queue, None, delivery.raw.encode("utf-8", "surrogateescape"))
