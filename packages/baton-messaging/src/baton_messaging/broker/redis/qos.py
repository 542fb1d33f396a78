"""Deliveries of one channel are ended, their leases renewed, their messages requeued.

Invariant: each step ends a delivery only if it is still unacked under its tag, and in the same script puts its message
where it belongs. So a step may be repeated, and one that comes too late (the lease had run out) does nothing.

An ack rides with the next dequeue where one follows at once (dequeue.py): the same script ends the one delivery and
begins the next, so the place of a riding ack counts as free, and is filled only if it becomes so.

A step that cannot be sent is kept and tried again with the next renewal; until then the lease is renewed, and no other
worker runs the message. On a channel that is closed it is dropped: the message comes back when its lease runs out.
"""

import json
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import structlog
from kombu.transport import redis as kombu_redis
from kombu.transport import virtual
from kombu.utils.encoding import bytes_to_str
from redis.exceptions import RedisError

from baton_messaging.broker.dead_letter_headers import DELIVERY_LIMIT, REJECTED, dead_letter, dead_letter_unreadable
from baton_messaging.broker.redis.delivery_limit import count_return, is_exceeded
from baton_messaging.broker.redis.scripts import FORGET, MOVE, OVERDUE, RENEW
from baton_messaging.broker.redis.unacked import UnackedDelivery

log = structlog.get_logger(__name__)

OVERDUE_BATCH_SIZE: Final = 500  # deliveries of dead workers taken back per round
HEAD: Final = "head"  # of the queue: its turn had come already
TAIL: Final = "tail"  # behind the others: it was requeued on purpose, and must not return at once (F73)


class QoS(kombu_redis.QoS):
    """kombu's bookkeeping of deliveries, with every exit to a safe place."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unsent: dict[str, Callable[[], None]] = {}
        self._lost: set[str] = set()
        #: Tags whose acks the next dequeue brings along, or has with it. Each is among the unsent until that is read.
        self.riding: dict[str, None] = {}

    def append(self, message: Any, delivery_tag: str) -> None:
        """Keep a delivery. It is unacked already: dequeuing it did that."""
        virtual.QoS.append(self, message, delivery_tag)

    def ack(self, delivery_tag: str) -> None:
        """End the delivery: its work is done."""
        step = partial(self._forget, delivery_tag)
        if self.channel.is_about_to_dequeue:
            self._unsent[delivery_tag] = step  # in case that dequeue does not come: the next renewal does
            self.riding[delivery_tag] = None
        else:
            self._end(delivery_tag, step)

    def end_riding(self, *, lost: Collection[str]) -> None:
        """End the deliveries whose acks have arrived with a dequeue; ``lost`` were unacked no longer."""
        for tag in lost:
            log.warning("late_ack_ignored", delivery_tag=tag)
        for tag in list(self.riding):  # a thread may renew meanwhile (pool ``solo``)
            self._unsent.pop(tag, None)
            self.riding.pop(tag, None)
            virtual.QoS.ack(self, tag)

    def can_consume(self) -> bool:
        """Tell whether there is room for another delivery."""
        unacked_count = len(self._delivered) - len(self._dirty) - len(self.riding)
        return not self.prefetch_count or unacked_count < self.prefetch_count

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """End the delivery: give its message back, or else to the dead letters."""
        step = partial(self._give_back, delivery_tag, TAIL) if requeue else partial(self._reject, delivery_tag)
        self._end(delivery_tag, step)

    def renew(self) -> None:
        """Renew the leases, and send what could not be sent. Raises the channel's connection errors."""
        self._send_unsent()
        unacked = self._unacked_tags()
        tags = [*unacked, *self.channel.tags_on_their_way()]
        if not tags:
            return
        lost = {bytes_to_str(tag) for tag in self._run(RENEW, [self.unacked_index_key], *tags)} & set(unacked)
        lost -= set(self.riding)  # those are about to end, or have
        for tag in lost - self._lost:
            # Stopped, or cut off, for longer than the lease. The message runs elsewhere; the inbox makes it one effect.
            log.warning("lease_lost", delivery_tag=tag)
        self._lost = lost

    def restore_visible(self, start: int = 0, num: int | None = None, interval: int = 1) -> None:
        """Give back the deliveries whose lease has run out, at every ``interval``-th call."""
        self._vrestore_count += 1
        if (self._vrestore_count - 1) % (interval or 1):
            return
        found = self._run(
            OVERDUE, [self.unacked_key, self.unacked_index_key], self.visibility_timeout, num or OVERDUE_BATCH_SIZE
        )
        for tag, text in zip(found[::2], found[1::2], strict=True):
            delivery = UnackedDelivery.read(bytes_to_str(tag), text)
            try:
                self._return(delivery, HEAD, lease_seconds=self.visibility_timeout)
            except self.channel.connection_errors:
                raise
            except Exception as error:  # one that cannot be moved must not keep the others
                log.warning("overdue_delivery_stuck", delivery_tag=delivery.tag, error_class=type(error).__name__)
            else:
                log.warning("overdue_delivery_returned", delivery_tag=delivery.tag)

    def restore_unacked(self, client: Any = None) -> None:
        """Give back all deliveries, the oldest to the very head. Called when the channel closes."""
        try:
            self._send_unsent()
            for tag in reversed(self._unacked_tags()):
                self._give_back(tag, HEAD)
        except (*self.channel.connection_errors, RedisError) as error:
            log.warning("deliveries_left_to_their_leases", error_class=type(error).__name__)
        finally:
            self._delivered.clear()

    def restore_by_tag(self, tag: str, client: Any = None, leftmost: bool = False) -> None:
        """Give one delivery back."""
        self._give_back(tag, TAIL if leftmost else HEAD)

    def dead_letter_unreadable(self, tag: str, raw: str) -> None:
        """End a delivery that brought no message."""
        self._end(
            tag,
            partial(
                self._dead_letter, UnackedDelivery(tag, queue=tag.rpartition(":")[0], raw=raw, payload=None), REJECTED
            ),
        )

    def _unacked_tags(self) -> list[str]:
        """Return the tags of unacked deliveries, the oldest first. (What came by fanout is none.)"""
        delivered = tuple(self._delivered)
        return [tag for tag in delivered if ":" in tag and tag not in self._dirty]

    def _end(self, tag: str, step: Callable[[], None]) -> None:
        try:
            step()
        except (*self.channel.connection_errors, RedisError) as error:
            kept = not self.channel.closed
            log.warning("delivery_not_ended", delivery_tag=tag, error_class=type(error).__name__, tried_again=kept)
            if kept:
                self._unsent[tag] = step
                return
        virtual.QoS.ack(self, tag)

    def _send_unsent(self) -> None:
        for tag, step in list(self._unsent.items()):
            if tag in self.riding:
                if self.channel.is_dequeuing:
                    continue  # it is on its way
                self.riding.pop(tag, None)
            step()
            self._unsent.pop(tag, None)
            virtual.QoS.ack(self, tag)

    def _forget(self, tag: str) -> None:
        was_unacked = self._run(FORGET, [self.unacked_key, self.unacked_index_key], tag)
        if not was_unacked and ":" in tag:
            log.warning("late_ack_ignored", delivery_tag=tag)

    def _reject(self, tag: str) -> None:
        if delivery := self._unacked_delivery(tag):
            self._dead_letter(delivery, REJECTED)

    def _give_back(self, tag: str, side: str) -> None:
        if delivery := self._unacked_delivery(tag):
            self._return(delivery, side)

    def _unacked_delivery(self, tag: str) -> UnackedDelivery | None:
        with self.channel.conn_or_acquire() as client:
            text = client.hget(self.unacked_key, tag)
        return UnackedDelivery.read(tag, text) if text else None

    def _return(self, delivery: UnackedDelivery, side: str, *, lease_seconds: float | None = None) -> None:
        channel, payload = self.channel, delivery.payload
        if payload is None:
            self._dead_letter(delivery, REJECTED, lease_seconds=lease_seconds)
            return
        count = count_return(payload)
        if delivery.queue != channel.dead_letter_queue and is_exceeded(count, limit=channel.delivery_limit):
            self._dead_letter(delivery, DELIVERY_LIMIT, lease_seconds=lease_seconds)
            return
        priority = channel._get_message_priority(payload, reverse=False)
        self._move(delivery, channel._q_for_pri(delivery.queue, priority), json.dumps(payload), side, lease_seconds)

    def _dead_letter(self, delivery: UnackedDelivery, reason: str, *, lease_seconds: float | None = None) -> None:
        dead_letter_queue = self.channel.dead_letter_queue
        if delivery.queue == dead_letter_queue:  # as on RabbitMQ: who rejects a dead letter drops it
            self._forget(delivery.tag)
            return
        now, queue = datetime.now(UTC), delivery.queue
        if delivery.payload is None:
            text = dead_letter_unreadable(delivery.raw, queue=queue, now=now, into=dead_letter_queue)
        else:
            text = dead_letter(delivery.payload, queue=queue, reason=reason, now=now, into=dead_letter_queue)
        self._move(delivery, dead_letter_queue, text, TAIL, lease_seconds)
        log.warning("dead_lettered_by_broker", delivery_tag=delivery.tag, reason=reason)

    def _move(self, delivery: UnackedDelivery, key: str, text: str, side: str, lease_seconds: float | None) -> None:
        queue = key.partition(self.channel.sep)[0]
        keys = [self.unacked_key, self.unacked_index_key, key, self.channel.notification_key(queue)]
        self._run(MOVE, keys, delivery.tag, text, side, "" if lease_seconds is None else lease_seconds)

    def _run(self, script: str, keys: list[str], *arguments: Any) -> Any:
        with self.channel.conn_or_acquire() as client:
            return client.execute_command("EVAL", script, len(keys), *map(self.channel.key, keys), *arguments)
