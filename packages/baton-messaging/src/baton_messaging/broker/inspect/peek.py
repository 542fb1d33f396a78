"""Messages of a queue are read without taking anything away from its workers, on both brokers.

On Redis that is reading lists, and what workers have taken is seen, too. RabbitMQ has no such thing: there each message
is copied to the tail of its queue (shovel.py says why); what its workers hold is not seen.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import kombu
from amqp.exceptions import MessageNacked
from kombu.message import Message
from kombu.utils.json import loads

from baton_messaging.broker.dead_letter_headers import is_message
from baton_messaging.broker.rabbitmq.shovel import message_count, move


def peek(connection: kombu.Connection, queue: str, *, limit: int) -> Iterator[Message | None]:
    """Yield up to ``limit`` messages of a queue; None for what is no message. Raises the connection's errors."""
    if connection.transport.driver_type == "redis":
        yield from _on_redis(connection.default_channel, queue, limit)
        return
    own: Any = connection.channel()
    try:
        count = message_count(own, queue)
        if count:
            with suppress(MessageNacked):  # the queue is full: what could not be copied goes back, and is not shown
                for message in move(own, queue, queue, limit=min(count, limit)):
                    yield own.message_to_python(message)
    finally:
        own.close()


def _on_redis(channel: Any, queue: str, limit: int) -> Iterator[Message | None]:
    for number, (_queue, _ahead_count, raw) in enumerate(channel.copies([queue])):
        if number == limit:
            return
        yield _read(channel, raw)


def _read(channel: Any, raw: bytes) -> Message | None:
    try:
        payload = loads(raw.decode())
    except Exception:  # whatever a foreign text makes of kombu's decoder
        return None
    if not is_message(payload):
        return None
    payload["properties"].setdefault("delivery_tag", "")
    message: Message = channel.Message(payload, channel=channel)
    return message
