"""The collector takes one dead letter at a time off the broker, records it, and only then acknowledges it.

With the database or the broker away it backs off and goes on by itself; a message that was in flight goes back to its
queue once, and no other is taken before the database answers, so a database that is away costs the queue nothing. Any
number of collectors may run at a time.
"""

from time import monotonic
from typing import Final

import kombu
from celery import current_app
from django.db import Error as DatabaseError
from django.db import connection
from kombu.message import Message

from baton_messaging.broker.rabbitmq.declarations import misdeclared
from baton_messaging.broker.rabbitmq.renewal import RENEWAL_SECONDS
from baton_messaging.dead_letters.intake.raw_message import read
from baton_messaging.dead_letters.intake.transfer import collect
from baton_messaging.processes.rounds import RoundProcess
from baton_messaging.routing.queues import dead_letter_queue

POLL_SECONDS: Final = 1.0  # between questions whether to stop; a message wakes the collector at once
RECHECK_SECONDS: Final = 5.0  # between checks of a queue that must be migrated first


class Collector(RoundProcess):
    """Moves dead letters from the broker into the database until it is told to stop."""

    def __init__(self) -> None:
        super().__init__("collector")
        self._has_complained = False
        self._renewed_at = monotonic()

    def _work(self) -> None:
        connection.ensure_connection()
        with current_app.connection_for_read() as broker:
            self._collect_from(broker)

    def _can_wait(self, _error: DatabaseError) -> bool:
        return True  # whatever the database says: the messages are safe where they are

    def _collect_from(self, broker: kombu.Connection) -> None:
        queue = dead_letter_queue()
        if self._is_declared_otherwise(broker, queue):
            self._heartbeat.wait(self._stopping, RECHECK_SECONDS)
            return
        while not self._stopping.is_set():
            self._collect_while_some_come(broker, queue)

    def _collect_while_some_come(self, broker: kombu.Connection, queue: kombu.Queue) -> None:
        """Collect; return when nothing has come for long, for RabbitMQ may have forgotten us (renewal.py)."""
        with broker.channel() as channel:
            bound = queue.bind(channel)
            bound.declare()  # also before the first worker has
            with kombu.Consumer(
                channel, [bound], on_message=self._take, on_decode_error=self._take_undecoded, prefetch_count=1
            ):
                self._renewed_at = monotonic()
                while not self._stopping.is_set() and not self._is_to_renew(broker):
                    self._drain(broker)

    def _is_to_renew(self, broker: kombu.Connection) -> bool:
        is_rabbitmq = broker.transport.driver_type == "amqp"
        return is_rabbitmq and monotonic() - self._renewed_at > RENEWAL_SECONDS

    def _is_declared_otherwise(self, broker: kombu.Connection, queue: kombu.Queue) -> bool:
        """Say so once, with the remedy (F18). The queue keeps what is in it until it is migrated."""
        found = misdeclared(broker, [queue])
        for one in found if not self._has_complained else ():
            one.log()
        self._has_complained = bool(found)
        return bool(found)

    def _drain(self, broker: kombu.Connection) -> None:
        try:
            broker.drain_events(timeout=POLL_SECONDS)
        except TimeoutError:
            broker.heartbeat_check()
            self._trouble_count = 0
            self._heartbeat.round()

    def _take(self, message: Message) -> None:
        try:
            collect(read(message))
        except DatabaseError:
            message.requeue()
            raise
        message.ack()
        self._trouble_count = 0
        self._renewed_at = monotonic()
        self._heartbeat.round(1)

    def _take_undecoded(self, message: Message, _error: Exception) -> None:
        self._take(message)
