"""An idle worker is notified when a message is published, without being handed the message in the same breath.

kombu waits with BRPOP, which takes the message out of Redis as it answers. If that answer is never read (the worker was
killed or stopped, its machine is gone, the connection was cut), the message is lost. Here a worker waits for a queue's
notification instead, a set that holds at most one, and then dequeues with the script DEQUEUE, which makes the message
an unacked delivery in the same step. A notification may be lost without harm: workers look for themselves every
``brpop_timeout`` (1 s). One notification wakes one worker; if that leaves messages behind, DEQUEUE adds the next one.
"""

import re
from collections.abc import Collection
from typing import Any, Final

import structlog
from kombu.transport import redis as kombu_redis
from kombu.utils.json import dumps
from redis.exceptions import ResponseError

log = structlog.get_logger(__name__)

NOTIFICATION: Final = {"": 0}
#: How long a notification for a queue that is not the project's stays (an answer to remote control, say).
STRAY_NOTIFICATION_MILLISECONDS: Final = 60_000
#: How long an answer to remote control waits: whoever has asked may have been killed.
ANSWER_MILLISECONDS: Final = 60_000
#: The exchange of such answers: kombu.pidbox.Mailbox.reply_exchange_fmt.
ANSWERS: Final = re.compile(r"reply\..+\.pidbox")


def is_for_answers(queue: str) -> bool:
    """Tell whether a queue is that of an asker: its exchange follows its routing key.

    >>> is_for_answers("57d1f3a0-9a3d-3bfb-8c7f-9d2b3c9f0a52.reply.celery.pidbox"), is_for_answers("orders.bulk")
    (True, False)
    """
    return bool(ANSWERS.fullmatch(queue.partition(".")[2]))


class NotifyingBatch(kombu_redis.PublishBatch):
    """kombu's pipeline of messages; the notifications follow the last message of each flush."""

    def __init__(self, channel: "NotifyingChannel", max_size: int) -> None:
        super().__init__(channel, max_size)
        self.notified: set[str] = set()

    def flush(self) -> None:
        """Send what is pending. Raises BatchPublishError when it is not known what arrived."""
        if self._buffered:
            for queue in self.notified:
                self.channel.notify(queue, self.pipeline)
        super().flush()


class NotifyingChannel(kombu_redis.Channel):
    """A channel that notifies a worker of the queue into which it puts a message."""

    queues: Collection[str] = ()

    def notification_key(self, queue: str) -> str:
        """Return the key of the queue's notification, without the global prefix."""
        return f"_baton.notify.{queue}"

    def notify(self, queue: str, pipe: Any) -> None:
        """Add the notification to a pipeline."""
        pipe.zadd(self.notification_key(queue), NOTIFICATION)
        if queue not in self.queues:
            pipe.pexpire(self.notification_key(queue), STRAY_NOTIFICATION_MILLISECONDS)

    def _receive_one(self, c: Any) -> Any:
        """Receive a broadcast. Whoever may use no channels (ACL) works on, without remote control."""
        try:
            return super()._receive_one(c)
        except ResponseError as error:
            if self.connection.remote_control_refusal is None:
                log.warning("remote_control_refused", error=str(error))
            self.connection.remote_control_refusal = error
            return None

    def create_publish_batch(self, max_size: int) -> NotifyingBatch:
        """Return a batch for ``Producer.batch()``."""
        return NotifyingBatch(self, max_size)

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        batch = kwargs.get("_publish_batch")
        if batch is not None:
            super()._put(queue, message, **kwargs)
            batch.notified.add(queue)
            return
        key = self._q_for_pri(queue, self._get_message_priority(message, reverse=False))
        with self.conn_or_acquire() as client, client.pipeline(transaction=False) as pipe:
            pipe.lpush(key, dumps(message))
            self._keep_expiring(queue, pipe)
            self.notify(queue, pipe)
            pipe.execute()

    def _keep_expiring(self, queue: str, pipe: Any) -> None:
        """Let a queue that was declared with ``x-expires`` live on; kombu does so at each message, too. Answers end."""
        if queue in self._expires:
            for priority in self.priority_steps:
                pipe.pexpire(self._q_for_pri(queue, priority), self._expires[queue])
        elif is_for_answers(queue):  # declared by the asker, not by us
            for priority in self.priority_steps:
                pipe.pexpire(self._q_for_pri(queue, priority), ANSWER_MILLISECONDS)
