"""The relay sends what is due, sleeps until the database notifies or a retry may be due, and stops cleanly.

Any number may run at a time. With the database or the broker away it backs off and goes on by itself (F25, F36, F81).
"""

import kombu
import structlog
from celery import current_app
from django.db import DatabaseError, connection

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.broker.rabbitmq.blocking import is_still_blocked
from baton_messaging.broker.rabbitmq.declarations import misdeclared
from baton_messaging.conf import baton
from baton_messaging.database.errors import is_passing
from baton_messaging.database.outbox_notify import CHANNEL
from baton_messaging.models.heartbeat import Trouble
from baton_messaging.processes.rounds import RoundProcess
from baton_messaging.relaying.bundles import BrokerFull, BrokerTrouble
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries

log = structlog.get_logger(__name__)

LISTEN_SECONDS = 0.5  # at a time, to a full broker: as often the relay looks whether it is to stop


class Relay(RoundProcess):
    """Moves messages from the outbox to the broker until it is told to stop."""

    def __init__(self) -> None:
        super().__init__("relay")
        self._listening = False

    def run(self) -> None:
        """Relay until stopped."""
        log.info("relay_started")
        with self._beating():
            while not self._stopping.is_set():
                self._relay_until_trouble()
        log.info("relay_stopped")

    def _relay_until_trouble(self) -> None:
        try:
            with current_app.connection_for_write() as broker:
                self._relay_over(broker)
        except BrokerTrouble as error:
            self._back_off("broker_away", error)
        except DatabaseError as error:
            if not is_passing(error):
                raise
            self._drop_database_connection()
            self._back_off("database_in_trouble", error)

    def _relay_over(self, broker: kombu.Connection) -> None:
        _name_misdeclared_queues(broker)
        producer = current_app.amqp.Producer(broker, auto_declare=False)
        while not self._stopping.is_set():
            self._listen()
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
        return send_outbox(producer) + send_retries(producer)

    def _sit_out(self, broker: kombu.Connection) -> None:
        """Wait on the same connection: RabbitMQ would keep each that was given up, until it has memory again."""
        log.warning("broker_full")
        try:
            while not self._stopping.is_set() and is_still_blocked(broker, seconds=LISTEN_SECONDS):
                self._heartbeat.trouble(Trouble.BROKER_FULL)
        except BROKER_ERRORS as error:
            raise BrokerTrouble(f"{type(error).__name__}: {error}") from error

    def _listen(self) -> None:
        if not self._listening:
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {CHANNEL}")
            self._listening = True

    def _wait(self) -> None:
        """Sleep until a commit publishes something, RELAY_POLL_SECONDS at most."""
        with connection.wrap_database_errors:
            for _ in connection.connection.notifies(timeout=baton().relay_poll_seconds, stop_after=1):
                return

    def _drop_database_connection(self) -> None:
        connection.close()
        self._listening = False


def _name_misdeclared_queues(broker: kombu.Connection) -> None:
    """Say once per connection what the broker has otherwise, and the remedy (F18). The other queues are served."""
    try:
        found = misdeclared(broker, current_app.amqp.queues.values())
    except BROKER_ERRORS as error:
        raise BrokerTrouble(f"{type(error).__name__}: {error}") from error
    for one in found:
        log.error("queue_declared_otherwise", queue=one.queue, remedy=one.remedy, broker_says=one.detail)
