"""Celery's consumer closes some holes here: setting ``worker_consumer``.

- Celery acknowledges a message that it cannot decode, which removes it; and a message whose envelope is not what it
  expects ends the whole worker, again and again. Here both are rejected, and so reach the dead-letter queue; so is
  what is larger than MAX_MESSAGE_BYTES, before it is decoded (broker/bounds.py).
- Without ``-Q`` a worker would consume the dead letters, too, and run them. Here it never does.
- A queue that RabbitMQ has with other arguments ends the whole worker. Here it is left out, and taken up once migrated.
- A queue that is declared anew may get no consumer again. Here an idle worker renews its subscription (renewal.py).
- While no dead-letter queue exists, RabbitMQ keeps what is rejected where it was. Here each worker declares one.
- Celery does not tell whether it takes messages. Here it counts what it receives (processes reads it).
- A task that a child takes up while the worker stops is forgotten, and run again. Here it is waited for.
- Remote control may stop a worker or take its queues. Here it only reads (remote_control.py).
- For ``countdown`` on RabbitMQ Celery asks ``broker_url``, and ends a worker that knows its broker by
  ``broker_read_url`` and ``broker_write_url`` only. Here it is told.
- With the pool ``solo`` a task holds up the event loop, and the leases with it. Here a thread renews them on Redis.
  Hazard: on RabbitMQ such a task holds up the heartbeats, too; one longer than two of them runs again.

Unknown tasks and disallowed content types Celery rejects by itself.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from time import monotonic, sleep
from typing import Any

import structlog
from celery.bootsteps import RUN  # type: ignore[attr-defined]  # not in the stubs
from celery.concurrency.solo import TaskPool as SoloPool
from celery.utils.log import get_logger
from celery.worker.consumer.consumer import Consumer as CeleryConsumer
from kombu import Queue
from kombu.message import Message

from baton_messaging.broker.bounds import check_size
from baton_messaging.broker.rabbitmq.declarations import misdeclared
from baton_messaging.broker.rabbitmq.renewal import RENEWAL_SECONDS, Renewal
from baton_messaging.broker.rabbitmq.timeouts import answering_within
from baton_messaging.conf import baton
from baton_messaging.processes.wiring_watch import WiringWatch
from baton_messaging.worker.in_flight import keeping_what_was_handed_out
from baton_messaging.worker.remote_control import Control

log = structlog.get_logger(__name__)

MAX_EVENTS_KEPT = 1_000  # of Celery's, for a Flower; our own record is the database
FAREWELL_SECONDS = 3.0  # for each of the two things a worker that ends has to say
RECHECK_SECONDS = 5  # between looks at a queue that must be migrated first


class Consumer(CeleryConsumer):
    """Loses nothing that it cannot read."""

    class Blueprint(CeleryConsumer.Blueprint):
        """The steps of the consumer; one is ours."""

        default_steps = tuple(
            Control if step == "celery.worker.consumer.control:Control" else step
            for step in CeleryConsumer.Blueprint.default_steps
        )

    connection: Any  # None while there is none
    renewal_seconds = RENEWAL_SECONDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.app.conf.broker_url:
            self.app.conf.update(broker_url=self.app.conf.broker_write_url)
        queues = self.app.amqp.queues
        self._dead_letter_queues = dead_letter_queues(queues.values())
        queues.deselect([queue.name for queue in self._dead_letter_queues])
        self._left_out: set[str] = set()
        self.max_message_bytes = baton().max_message_bytes
        self.received_count = 0
        self.received_at: float | None = None  # by the monotonic clock
        self.while_connecting: Callable[[], None] = _nothing  # called every second or so
        self.watch: WiringWatch | None = None  # of the heartbeat's

    @property
    def left_out_queues(self) -> set[str]:
        """Return the queues that wait for a migration."""
        return self._left_out

    @property
    def is_receiving(self) -> bool:
        """Tell whether the broker is there and messages are wanted: not while connecting, not while stopping."""
        return self.connection is not None and self.blueprint.state == RUN

    def start(self) -> None:
        """Consume until the worker is stopped."""
        if isinstance(self.pool, SoloPool):
            threading.Thread(target=self._renew_leases_meanwhile, name="leases", daemon=True).start()
        super().start()

    def register_with_event_loop(self, hub: Any) -> None:
        """Let the loop call us: as long as this connection lives, for Celery cancels such timers with it."""
        super().register_with_event_loop(hub)
        if self.connection.transport.driver_type == "amqp":
            hub.call_repeatedly(self.renewal_seconds, Renewal(self).renew_if_idle)

    def on_ready(self) -> None:
        """Declare the dead-letter queue once the connection stands."""
        for found in misdeclared(self.connection, self._dead_letter_queues):
            found.log()
        super().on_ready()
        if self.event_dispatcher:  # else what a full broker does not take would pile up here, for as long as it is full
            self.event_dispatcher._outbound_buffer = deque(
                self.event_dispatcher._outbound_buffer, maxlen=MAX_EVENTS_KEPT
            )

    def connect(self) -> Any:
        """Connect. A queue that the broker has otherwise is left out until it is migrated: no crash, no loop (F18)."""
        self.connection = None  # it broke, and nothing is received until there is another one
        self.while_connecting()  # a broker may let us in and refuse all work: this is then the only turn of the loop
        connection = super().connect()
        queues = self.app.amqp.queues
        wanted = [*queues.consume_from.values(), *(queues[name] for name in self._left_out)]
        try:
            found = misdeclared(connection, wanted)
        except Exception:
            connection.collect()  # no other code knows of it
            raise
        for one in found:
            one.log()
        if found:
            self._left_out |= {one.queue for one in found}
            queues.deselect([one.queue for one in found])
            self.timer.call_after(RECHECK_SECONDS, self._take_up_migrated)
        return connection

    def connection_for_write(self, url: str | None = None, heartbeat: float | None = None) -> Any:
        """Connect for Celery's events: without confirms, else each of them holds up the loop of a hanging broker."""
        connection = self.app.connection_for_write(url=url, heartbeat=heartbeat)
        connection.transport_options = {**connection.transport_options, "confirm_publish": False}
        return self.ensure_connected(connection)

    def stop(self) -> None:
        """Consume no more."""
        with self._farewell():
            super().stop()

    def shutdown(self) -> None:
        """Leave the broker: what was running has ended."""
        with self._farewell():
            super().shutdown()

    def on_close(self) -> None:
        """Forget what was received: the broker gives it out again, but for what a child has by now."""
        with keeping_what_was_handed_out(self.pool):
            super().on_close()

    def ensure_connected(self, conn: Any) -> Any:
        """Wait for the broker, however long, and call ``while_connecting`` meanwhile: the loop stands still here."""
        ensure = conn.ensure_connection

        def ensure_connection(errback: Any, max_retries: int | None, callback: Callable[[], None]) -> Any:
            def every_second() -> None:
                self.while_connecting()
                callback()

            def on_error(error: Exception, interval: float) -> None:
                self.note_broker(error)
                errback(error, interval)

            return ensure(on_error, max_retries, callback=every_second)

        conn.ensure_connection = ensure_connection
        return super().ensure_connected(conn)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Connect anew; what has ended the connection is told in the heartbeat."""
        self.note_broker(exc)
        super().on_connection_error_after_connected(exc)

    def note_broker(self, error: Exception | None, *, part: str = "broker") -> None:
        """Note what the broker, or the part of it, has refused; None: it does its work."""
        if self.watch is None:
            return
        if error is None:
            self.watch.is_over(part)
        else:
            self.watch.met(part, error)

    @property
    def refusal(self) -> Exception | None:
        """Return what the broker answers instead of a message, over a connection that stands (Redis)."""
        return getattr(self.connection.transport, "refusal", None) if self.connection else None

    @property
    def remote_control_refusal(self) -> Exception | None:
        """Return what it answers instead of broadcasts (Redis)."""
        return getattr(self.connection.transport, "remote_control_refusal", None) if self.connection else None

    def on_decode_error(self, message: Message, exc: Exception) -> None:
        """Send the message to the dead letters."""
        log.error("undecodable", error_class=type(exc).__name__, content_type=str(message.content_type)[:100])
        message.reject_log_error(get_logger(__name__), self.connection_errors)

    def create_task_handler(self, *args: Any, **kwargs: Any) -> Callable[[Message], None]:
        """Return what is called for each message."""
        handle = super().create_task_handler(*args, **kwargs)

        def on_task_received(message: Message) -> None:
            self.received_count += 1
            self.received_at = monotonic()
            try:
                check_size(message, max_bytes=self.max_message_bytes)
                handle(message)
            except Exception as error:
                # kombu counts KeyError among Redis's connection errors; here it is a header that is not there.
                if isinstance(error, self.connection_errors) and not isinstance(error, KeyError):
                    raise
                if message.acknowledged:
                    raise
                self.on_decode_error(message, error)

        return on_task_received

    def _farewell(self) -> ExitStack:
        """Wait no longer than that for a broker that hangs: it notices by itself that we are gone."""
        stack = ExitStack()
        for connection in (self.connection, getattr(self.event_dispatcher, "connection", None)):
            stack.enter_context(answering_within(connection, FAREWELL_SECONDS))
        return stack

    def _take_up_migrated(self) -> None:
        """Consume what was migrated meanwhile, and look again later for the rest."""
        if not self.is_receiving or not self._left_out:  # looking for the broker: connect() looks at these, too
            return
        queues = self.app.amqp.queues
        still = {one.queue for one in misdeclared(self.connection, [queues[name] for name in self._left_out])}
        for name in self._left_out - still:
            self.add_task_queue(name)
            log.info("queue_taken_up", queue=name)
        self._left_out = still
        if still:
            self.timer.call_after(RECHECK_SECONDS, self._take_up_migrated)

    def _renew_leases_meanwhile(self) -> None:
        while True:
            connection = self.connection  # None while the consumer looks for the broker
            if connection and connection.transport.driver_type == "redis":
                poller = connection.transport.cycle  # broker.redis.lease.LeasePoller
                poller.renew_leases()
                sleep(poller.lease_renewal_seconds)
            else:
                sleep(1)


def _nothing() -> None:
    pass


def dead_letter_queues(queues: Iterable[Queue]) -> list[Queue]:
    """Return those of the queues that take the dead letters of the others."""
    declared = list(queues)
    exchanges = {(queue.queue_arguments or {}).get("x-dead-letter-exchange") for queue in declared} - {None}
    return [queue for queue in declared if queue.exchange.name in exchanges]
