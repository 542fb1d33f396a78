"""A shovel moves messages from one RabbitMQ queue to another, or reads them; each is in a queue at every moment.

Invariant: a message is acknowledged only after the broker confirmed its copy. Killed in between, it is there twice,
and the inbox absorbs that.

Looking is moving to the tail of the same queue: to take a message and give it back would count as a delivery, and a
gate that looks four times would send everything to the dead letters (x-delivery-limit). Hazard: the count of earlier
deliveries of a message that is looked at begins anew, and workers may see the messages in another order.
"""

from collections.abc import Iterator
from typing import Any, Final

from amqp.basic_message import Message
from amqp.exceptions import NotFound

from baton_messaging.broker.rabbitmq.batch import CONFIRM_TIMEOUT

BATCH_SIZE: Final = 100  # messages copied before their confirms are awaited
_OF_ONE_QUEUE: Final = ("x-delivery-count", "x-acquired-count")


def move(channel: Any, source: str, target: str, *, limit: int | None = None) -> Iterator[Message]:
    """Move messages, oldest first, until the source is empty or ``limit`` is reached; yield what was moved.

    Raises MessageNacked when the target takes no more, and the connection's errors; what was not moved stays.
    """
    left = limit
    while left is None or left > 0:
        batch = _take(channel, source, BATCH_SIZE if left is None else min(BATCH_SIZE, left))
        if not batch:
            return
        for message in batch:
            channel.publish_unconfirmed(_copy(message), exchange="", routing_key=target, mandatory=True)
        channel.await_confirms(CONFIRM_TIMEOUT)
        channel.basic_ack(batch[-1].delivery_info["delivery_tag"], multiple=True)
        yield from batch
        left = None if left is None else left - len(batch)


def message_count(channel: Any, queue: str) -> int | None:
    """Return how many messages wait in a queue, None if it does not exist. The channel can still be used."""
    try:
        return int(channel.queue_declare(queue=queue, passive=True).message_count)
    except NotFound:
        return None


def consumer_count(channel: Any, queue: str) -> int:
    """Return how many consumers a queue that exists has."""
    return int(channel.queue_declare(queue=queue, passive=True).consumer_count)


def _take(channel: Any, queue: str, count: int) -> list[Message]:
    batch: list[Message] = []
    while len(batch) < count and (message := channel.basic_get(queue, no_ack=False)):
        batch.append(message)
    return batch


def _copy(message: Message) -> Message:
    properties = dict(message.properties)
    headers = properties.pop("application_headers", None) or {}
    kept = {name: value for name, value in headers.items() if name not in _OF_ONE_QUEUE}
    return Message(message.body, application_headers=kept, **properties)
