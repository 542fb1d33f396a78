"""The brokers under test, and workers on them."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import kombu
import redis
from amqp.exceptions import InternalError
from baton_dev.servers.embedded import Valkey
from baton_dev.testing.forkserver import forked
from baton_dev.testing.processes import Process, wait_until
from baton_dev.testing.rabbitmq import RabbitMQ
from baton_messaging.broker.inspect.depth import Depth, depths
from baton_messaging.maintenance.queue_migration import retry_while_busy
from baton_messaging.routing.queues import dead_letter_queue
from celery import Celery
from kombu.message import Message

from tests.contract.celery_app import QUEUES, STARTED, make_app

#: A worker that is started without -Q.
ALL_QUEUES = "all"
#: Seconds. Long enough for a worker on a busy machine to renew in time, short enough to wait for.
VISIBILITY_TIMEOUT = 3.0
#: Of workers that must keep theirs though the machine stands still for some seconds.
LONG_VISIBILITY_TIMEOUT = 7.0


@dataclass
class Broker:
    """A running broker, and a client of it."""

    service: Valkey | RabbitMQ
    app: Celery
    visibility_timeout: float | None
    workers: int = field(default=0, init=False)

    @property
    def is_valkey(self) -> bool:
        return isinstance(self.service, Valkey)

    def send(self, task: str, *args: Any, queue: str = QUEUES[0], **options: Any) -> str:
        """Send a task; return its id."""
        plain = [str(arg) if isinstance(arg, Path) else arg for arg in args]
        with self.app.connection_for_write() as connection:  # not of a pool: brokers are restarted here
            producer = self.app.amqp.Producer(connection)
            return str(self.app.send_task(task, args=plain, queue=queue, producer=producer, **options).id)

    def publish(self, body: Any, *, queue: str, **options: Any) -> None:
        """Publish something that is no task of ours."""
        with self.app.connection_for_write() as connection:
            self.app.amqp.Producer(connection).publish(body, routing_key=queue, exchange="", **options)

    def client(self) -> redis.Redis:
        """Return a client of Valkey for what kombu does not do."""
        return redis.Redis.from_url(self.service.url)

    def depth(self, queue: str = QUEUES[0]) -> Depth:
        with self.app.connection_for_read() as connection:
            return depths(connection, [queue])[queue]

    def dead_letter(self, task_id: str) -> Any:
        """Take the dead letters as the collector does, until that of the task comes; fail if it does not."""
        found: dict[str, Any] = {}

        def keep(message: Message) -> None:
            found[message.headers.get("id", "")] = message
            message.ack()

        with (
            self.app.connection_for_read() as connection,
            kombu.Consumer(
                connection,
                queues=[dead_letter_queue()],
                on_message=keep,
                on_decode_error=lambda message, _error: keep(message),
            ),
        ):
            return wait_until(lambda: drain(connection) or found.get(task_id), what=f"the dead letter of {task_id}")  # type: ignore[func-returns-value]

    def empty(self) -> None:
        """Leave nothing in the queues."""
        try:
            with self.app.connection_for_write() as connection:
                for queue in self.app.amqp.queues.values():
                    _declare_and_purge(queue, connection)
        except InternalError:
            for queue in self.app.amqp.queues.values():
                self.declare_anew(queue)
        if self.is_valkey:
            with self.client() as client:
                client.delete("unacked", "unacked_index")

    def delete(self, queue: kombu.Queue) -> None:
        """Delete a queue, of RabbitMQ."""
        with self.app.connection_for_write() as connection:
            retry_while_busy(connection, lambda own: queue.bind(own.default_channel).delete())

    def declare_anew(self, queue: kombu.Queue) -> None:
        """Delete the queue and declare it at once: RabbitMQ 3 then cancels no consumer.

        Again if need be: one that somebody else declares meanwhile may have lost its processes, and for ever answers
        541 INTERNAL_ERROR (seen once, on 3.10).
        """
        for _ in range(3):
            self.delete(queue)
            with self.app.connection_for_write() as connection, suppress(InternalError):
                retry_while_busy(connection, partial(_declare_and_purge, queue))
                return

    def start_worker(
        self,
        directory: Path,
        *queues: str,
        concurrency: int = 1,
        pool: str = "prefork",
        alert: bool = False,
        visibility_timeout: float | None = None,
    ) -> Process:
        """Start a worker without waiting for it; an alert one notices within seconds what RabbitMQ has done to it."""
        self.workers += 1
        name = f"worker{self.workers}"
        celery = [sys.executable, "-m", "celery", "--skip-checks", "-A", "tests.contract.tasks"]
        command = [*celery, "worker", "-l", "INFO", "-P", pool]
        options = [
            "--without-mingle",
            "--without-gossip",
            "-c",
            str(concurrency),
            "-n",
            f"{name}-{time.monotonic_ns()}@contract",
        ]
        if queues != (ALL_QUEUES,):
            options += ["-Q", ",".join(queues or QUEUES[:1])]
        return Process(
            [*command, *options],
            log=directory / f"{name}.log",
            env={
                "CELERY_BROKER_URL": "",  # a project may name its variable otherwise: only its settings know the URL
                "CONTRACT_BROKER_URL": self.service.url,
                "CONTRACT_VISIBILITY_TIMEOUT": str(visibility_timeout or self.visibility_timeout or ""),
                "CONTRACT_IS_ALERT": "1" if alert else "",
            },
            start=partial(forked, application="tests.contract.tasks"),
        )

    @contextmanager
    def running(self, *workers: Process) -> Iterator[None]:
        """Wait until the workers are ready, and kill them at the end."""
        try:
            for worker in workers:
                worker.wait_for_output(" ready.")
            yield
        finally:
            for worker in workers:
                worker.kill()


def _declare_and_purge(queue: kombu.Queue, connection: kombu.Connection) -> None:
    bound = queue.bind(connection.default_channel)
    bound.declare()
    bound.purge()


def measure_recovery(broker: Broker, directory: Path) -> float:
    """Kill a worker in the middle of a task; return the seconds until another one starts it."""
    path = directory / "runs"
    doomed = broker.start_worker(directory)
    with broker.running(doomed):
        broker.send("wait", path)
        wait_for_lines(path, STARTED)
        with broker.running(broker.start_worker(directory)):
            doomed.kill()
            killed_at = time.monotonic()
            wait_for_lines(path, STARTED, STARTED, seconds=55)
            return time.monotonic() - killed_at


def drain(connection: kombu.Connection, *, seconds: float = 0.2) -> None:
    """Handle what the broker delivers within a moment."""
    try:
        connection.drain_events(timeout=seconds)
    except TimeoutError:
        return


def lines(path: Path) -> list[str]:
    """Return what the runs of a task wrote down."""
    return path.read_text().splitlines() if path.exists() else []


def wait_for_lines(path: Path, *expected: str, seconds: float = 30) -> None:
    """Wait until the runs have written exactly this down, in whatever order."""
    wait_until(lambda: sorted(lines(path)) == sorted(expected), seconds=seconds, what=f"{expected}, not {lines(path)},")


def open_gate(path: Path, run: int) -> None:
    """Let the run of the task ``wait`` with this number finish."""
    path.with_name(f"{path.name}.{run}").touch()


def make_broker(service: Valkey | RabbitMQ, *, visibility_timeout: float | None = VISIBILITY_TIMEOUT) -> Broker:
    """Return a running broker; without ``visibility_timeout``, with the timeouts that the project ships."""
    return Broker(service, make_app(service.start(), visibility_timeout=visibility_timeout), visibility_timeout)
