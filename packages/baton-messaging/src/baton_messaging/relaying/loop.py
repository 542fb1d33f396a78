"""The relay sends what is due, sleeps until the database notifies or a retry may be due, and stops cleanly.

Any number may run at a time. With the database or the broker away it backs off and goes on by itself (F25, F36, F81).
"""

from typing import ClassVar

import kombu
import structlog
from amqp.exceptions import RecoverableConnectionError
from celery import current_app
from django.db import connection

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.broker.rabbitmq.blocking import is_still_blocked
from baton_messaging.broker.rabbitmq.declarations import misdeclared
from baton_messaging.broker.rabbitmq.transport import Connection
from baton_messaging.conf import baton
from baton_messaging.database.outbox_notify import CHANNEL
from baton_messaging.models.heartbeat import Trouble
from baton_messaging.processes.rounds import RoundProcess
from baton_messaging.relaying.bundles import BrokerFull, BrokerTrouble
from baton_messaging.relaying.future_round import FutureRound
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries

log = structlog.get_logger(__name__)

LISTEN_SECONDS = 0.5  # at a time, to a full broker: as often the relay looks whether it is to stop


class Relay(RoundProcess):
    """Moves messages from the outbox to the broker until it is told to stop."""

    broker_errors: ClassVar[tuple[type[Exception], ...]] = (BrokerTrouble, *BROKER_ERRORS)

    def __init__(self) -> None:
        super().__init__("relay")
        self._future = FutureRound()

    def _work(self) -> None:
        with current_app.connection_for_write() as broker:
            # It is the loop that tries again: kombu would for ten seconds, in which no heartbeat is written.
            broker.transport_options = {**(broker.transport_options or {}), "max_retries": 0}
            broker.default_channel  # noqa: B018 - connects: also with nothing to send, to say what keeps it from that
            if isinstance(broker.connection, Connection):
                broker.connection.while_unconfirmed = self._say_that_it_waits
            for found in misdeclared(broker, current_app.amqp.queues.values()):  # the other queues are served
                found.log()
            self._relay_over(broker)

    def _relay_over(self, broker: kombu.Connection) -> None:
        producer = current_app.amqp.Producer(broker, auto_declare=False)
        _listen()
        while not self._stopping.is_set():
            try:
                count = self.run_once(producer)
            except BrokerFull:
                self._sit_out(broker)
                continue
            self._heartbeat.round(count)
            if not count:
                self._wait()
            self._trouble_count = 0

    def run_once(self, producer: kombu.Producer) -> int:
        """Send one batch of what is due; return how many messages it took up."""
        return self._future.release() + send_outbox(producer) + send_retries(producer)

    def _say_that_it_waits(self, count: int, seconds: float) -> None:
        """Beat while a broker confirms nothing: a queue without a majority, or a node that hangs."""
        text = f"{count} messages not confirmed by the broker for {seconds:.0f} s"
        self._heartbeat.met("broker_away", RecoverableConnectionError(text))
        self._heartbeat.trouble()

    def _sit_out(self, broker: kombu.Connection) -> None:
        """Wait on the same connection: RabbitMQ would keep each that was given up, until it has memory again."""
        log.warning("broker_full")
        while not self._stopping.is_set() and is_still_blocked(broker, seconds=LISTEN_SECONDS):
            self._heartbeat.trouble(Trouble.BROKER_FULL)

    def _wait(self) -> None:
        """Sleep until a commit publishes something, RELAY_POLL_SECONDS at most."""
        with connection.wrap_database_errors:
            for _ in connection.connection.notifies(timeout=baton().relay_poll_seconds, stop_after=1):
                return


def _listen() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"LISTEN {CHANNEL}")
