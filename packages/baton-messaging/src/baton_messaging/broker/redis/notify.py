"""Wake an idle worker when a message is published, without handing it the message in the same breath.

kombu waits with BRPOP, which takes the message out of Redis as it answers. If that answer is never read (the worker was
killed or stopped, its machine is gone, the connection was cut), the message is lost. Here a worker waits for the
*bell* of a queue instead, a set that holds at most one ring, and then takes a message with the TAKE script, which
books it in the same step. A ring may be lost without harm: workers look for themselves every ``brpop_timeout`` (1 s).
One ring wakes one worker; if that leaves messages behind, TAKE rings again for the next.
"""

from collections.abc import Collection
from typing import Any, Final

from kombu.transport import redis as kombu_redis
from kombu.utils.json import dumps

RING: Final = {"": 0}
#: How long a ring for a queue that is not the project's stays (an answer to remote control, say).
STRAY_RING_MILLISECONDS: Final = 60_000


class RingingBatch(kombu_redis.PublishBatch):
    """kombu's pipeline of messages; the bells ring after the last message of each flush."""

    def __init__(self, channel: "RingingChannel", max_size: int) -> None:
        super().__init__(channel, max_size)
        self.rung: set[str] = set()

    def flush(self) -> None:
        """Send what is pending. Raises BatchPublishError when it is not known what arrived."""
        if self._buffered:
            for queue in self.rung:
                self.channel.ring(queue, self.pipeline)
        super().flush()


class RingingChannel(kombu_redis.Channel):
    """A channel that rings the bell of the queue into which it puts a message."""

    queues: Collection[str] = ()

    def bell(self, queue: str) -> str:
        """Return the key of the queue's bell, without the global prefix."""
        return f"_baton.bell.{queue}"

    def ring(self, queue: str, pipe: Any) -> None:
        """Add the ring to a pipeline."""
        pipe.zadd(self.bell(queue), RING)
        if queue not in self.queues:
            pipe.pexpire(self.bell(queue), STRAY_RING_MILLISECONDS)

    def create_publish_batch(self, max_size: int) -> RingingBatch:
        """Return a batch for ``Producer.batch()``."""
        return RingingBatch(self, max_size)

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        batch = kwargs.get("_publish_batch")
        if batch is not None:
            super()._put(queue, message, **kwargs)
            batch.rung.add(queue)
            return
        key = self._q_for_pri(queue, self._get_message_priority(message, reverse=False))
        with self.conn_or_acquire() as client, client.pipeline(transaction=False) as pipe:
            pipe.lpush(key, dumps(message))
            self._keep_expiring(queue, pipe)
            self.ring(queue, pipe)
            pipe.execute()

    def _keep_expiring(self, queue: str, pipe: Any) -> None:
        """Let a queue that was declared with ``x-expires`` live on; kombu does so at each message, too."""
        if queue in self._expires:
            for priority in self.priority_steps:
                pipe.pexpire(self._q_for_pri(queue, priority), self._expires[queue])
