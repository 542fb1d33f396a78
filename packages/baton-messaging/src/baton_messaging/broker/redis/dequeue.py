"""Messages are dequeued so that each is, at every moment, either in its queue or an unacked delivery of a worker.

Two states instead of kombu's BRPOP, on one connection: *dequeuing* (the script DEQUEUE, which answers at once) and, if
nothing was there, *waiting* for a notification (notify.py). A dequeue brings along the acks of what has just ended
(qos.py): a child waits for one round trip less. Each delivery gets a tag of its own, so that a late ack, from a worker
that was stopped for longer than its lease, does not end another worker's delivery.
"""

import base64
import sys
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from queue import Empty
from time import monotonic, sleep
from typing import Any, Final, cast

import structlog
from kombu.message import Message as BaseMessage
from kombu.transport import virtual
from kombu.transport.virtual import Base64
from kombu.utils.encoding import bytes_to_str
from kombu.utils.json import loads
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ReadOnlyError, ResponseError
from uuid_utils.compat import uuid7

from baton_messaging.broker.bounds import MAX_RAW_BYTES, BoundedMessage
from baton_messaging.broker.dead_letter_headers import dead_letter_unreadable, is_message
from baton_messaging.broker.redis.notify import NotifyingChannel
from baton_messaging.broker.redis.scripts import DEQUEUE

log = structlog.get_logger(__name__)

REFUSED_PAUSE_SECONDS: Final = 1.0


class Message(virtual.Message, BoundedMessage):
    """A message that may be unreadable: its consumer is told (``on_decode_error``), and goes on."""

    def __init__(self, payload: dict[str, Any], channel: Any = None, **kwargs: Any) -> None:
        try:
            super().__init__(payload, channel=channel, **kwargs)
        except Exception:  # whatever a foreign body makes of the decoder
            properties = payload["properties"]
            headers = payload.get("headers") or {}
            BaseMessage.__init__(
                self,
                body=payload.get("body"),  # as it came: the dead letter keeps it for people to look at
                channel=channel,
                content_type=payload.get("content-type"),
                content_encoding=payload.get("content-encoding"),
                delivery_tag=properties["delivery_tag"],
                headers={name: value for name, value in headers.items() if name != "compression"},
                properties=properties,
                delivery_info=properties.get("delivery_info"),
            )
            self.headers = headers
            self.errors = [sys.exc_info()]


class StrictBase64(Base64):
    """Refuses what is no base64. Python's decoder leaves such characters out and makes other bytes of the rest."""

    def decode(self, s: str) -> bytes:
        """Return the bytes. Raises binascii.Error, or ValueError for what is not ASCII."""
        return base64.b64decode(s, validate=True)


class DequeuingChannel(NotifyingChannel):
    """A channel that consumes in two steps: wait for a notification, then dequeue."""

    Message = Message
    codecs = {"base64": StrictBase64()}
    max_raw_bytes: int = MAX_RAW_BYTES
    dead_letter_queue: str = "dead_letters"
    _in_poll: Any
    #: What the connection of the consumer is doing, while `_in_poll`: waiting for a notification, or else dequeuing.
    _waiting = False
    #: The unique part of the tag of the delivery that is on its way to us: ours, but not read yet.
    _on_its_way: str | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._no_ack_queues: set[str] = set()
        super().__init__(*args, **kwargs)

    def key(self, name: str) -> str:
        """Return a key as Redis sees it: kombu's clients add the prefix to the commands they know, not to scripts."""
        return f"{self.global_keyprefix}{name}"

    def basic_consume(self, queue: str, no_ack: bool, *args: Any, **kwargs: Any) -> Any:
        """Consume; what is consumed without acknowledgement is never unacked."""
        (self._no_ack_queues.add if no_ack else self._no_ack_queues.discard)(queue)
        return super().basic_consume(queue, no_ack, *args, **kwargs)

    def basic_get(self, queue: str, no_ack: bool = False, **_kwargs: Any) -> BaseMessage | None:
        """Return one message, None if there is none."""
        arguments = self._dequeue_arguments([queue], str(uuid7()), {queue} if no_ack else set())
        with self.conn_or_acquire() as client:
            _lost, *dequeued = client.execute_command("EVAL", *arguments)
        if not dequeued:
            return None
        payload = self._read(dequeued)
        if payload is None:
            return None
        message = self.Message(payload, channel=self)
        if not no_ack:
            self.qos.append(message, message.delivery_tag)
        return message

    @property
    def is_dequeuing(self) -> bool:
        """Tell whether we have asked for a delivery and not read the answer yet."""
        return self._on_its_way is not None

    @property
    def is_about_to_dequeue(self) -> bool:
        """Tell whether the event loop, in whose thread we are, dequeues at the end of this turn if there is room."""
        if self.closed or self._in_poll or self._waiting or not self.active_queues:
            return False
        return bool(self.connection.cycle.is_turned_by_this_thread)

    def tags_on_their_way(self) -> list[str]:
        """Return the tags that a delivery which we have asked for, and not read yet, may have."""
        return [f"{queue}:{self._on_its_way}" for queue in self.active_queues] if self._on_its_way else []

    def close(self) -> None:
        """Close; a delivery that is still on its way goes back with the others."""
        if self._in_poll:
            try:
                self._read_answer(deliver=self._keep)
            except (Empty, *self.connection_errors):
                self._in_poll = None  # unacked, if it was anything: it comes back when its lease runs out
        super().close()

    def _brpop_start(self, timeout: float | None = None) -> None:
        queues = self._queue_cycle.consume(len(self.active_queues))
        if not queues:
            return
        self._in_poll = self.client.connection
        self._brpop_sent_at = monotonic()
        if self._waiting:
            keys = [self.key(self.notification_key(queue)) for queue in queues]
            self._in_poll.send_command("BZPOPMIN", *keys, timeout or self.brpop_timeout or 0)
        else:
            self._on_its_way = str(uuid7())
            arguments = self._dequeue_arguments(queues, self._on_its_way, self._no_ack_queues)
            self._in_poll.send_command("EVAL", *arguments, *self.qos.riding)

    def _on_connection_disconnect(self, connection: Any) -> None:
        if self._in_poll is connection:
            self._on_its_way = None  # its answer will not come: let the lease run out
        super()._on_connection_disconnect(connection)

    def _brpop_read(self, **_options: Any) -> bool:
        return self._read_answer(deliver=self._deliver)

    def _deliver(self, payload: dict[str, Any], queue: str) -> None:
        if queue in self.connection._callbacks:
            self.connection._deliver(payload, queue)
        else:  # the consumer was cancelled while this was on its way
            self.qos.restore_by_tag(payload["properties"]["delivery_tag"])

    def _read_answer(self, deliver: Callable[[dict[str, Any], str], None]) -> bool:
        try:
            dequeued = self._answer()
            payload = self._read(dequeued) if dequeued else None
            if payload is None:
                raise Empty
            queue = bytes_to_str(dequeued[0])
            self._queue_cycle.rotate(queue)
            deliver(payload, queue)
            return True
        finally:
            self._on_its_way = None
            self._in_poll = None
            self._flush_brpop_reauth()

    def _answer(self) -> Any:
        """Return what was dequeued, None if nothing was, or if it was a notification that came."""
        waiting, self._waiting = self._waiting, False
        try:
            answer = self.client.parse_response(self.client.connection, "BZPOPMIN" if waiting else "EVAL")
        except self.connection_errors:
            self.client.connection.disconnect()
            raise
        except ReadOnlyError as error:  # it is no longer the master
            self.client.connection.disconnect()
            raise RedisConnectionError(str(error)) from error
        except ResponseError as error:
            # A full disk, say: the server takes no writes for now, neither this one nor any ack. Nothing is lost.
            log.warning("broker_refuses", error=str(error), again_in_seconds=REFUSED_PAUSE_SECONDS)
            self.connection.refusal = error
            sleep(REFUSED_PAUSE_SECONDS)
            return None
        if waiting:
            return None
        self.connection.refusal = None
        lost, *dequeued = answer
        self.qos.end_riding(lost=[bytes_to_str(tag) for tag in lost])
        self._waiting = not dequeued
        return dequeued

    def _read(self, dequeued: list[bytes]) -> dict[str, Any] | None:
        """Return the message that was dequeued, as kombu wants it; what is no message goes to the dead letters."""
        queue, tag, raw = (part.decode("utf-8", "surrogateescape") for part in dequeued)
        try:
            payload = loads(raw)
        except Exception:  # whatever a foreign text makes of kombu's decoder
            payload = None
        if not is_message(payload):
            if queue != self.dead_letter_queue:
                self.qos.dead_letter_unreadable(tag, raw)
                return None
            payload = loads(dead_letter_unreadable(raw, queue=queue, now=datetime.now(UTC), into=queue))
        payload["properties"]["delivery_tag"] = tag
        return cast("dict[str, Any]", payload)

    def _keep(self, payload: dict[str, Any], _queue: str) -> None:
        message = self.Message(payload, channel=self)
        self.qos.append(message, message.delivery_tag)

    def _dequeue_arguments(self, queues: list[str], unique: str, no_ack: Collection[str]) -> list[Any]:
        lists = [(queue, priority) for priority in self.priority_steps for queue in queues]
        keys = [self.unacked_key, self.unacked_index_key]
        arguments: list[Any] = [unique, self.max_raw_bytes]
        for queue, priority in lists:
            keys += [self._q_for_pri(queue, priority), self.notification_key(queue)]
            arguments += [queue, "no ack" if queue in no_ack else "ack"]
        return [DEQUEUE, len(keys), *(self.key(key) for key in keys), *arguments]
