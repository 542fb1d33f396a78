"""RabbitMQ hangs, on a machine that lives: who has a loop to turn waits for it no longer than he wants to."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import kombu
import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.broker.rabbitmq.timeouts import answering_within
from baton_messaging.processes.intake import DEADLINE_SECONDS, Intake

from tests.contract.brokers import Broker, drain
from tests.contract.celery_app import QUEUES

pytestmark = pytest.mark.parametrize("session_broker", ["rabbitmq"], indirect=True)  # Redis has its socket_timeout


class Consuming:
    """What the heartbeat of a worker asks its consumer."""

    is_receiving = True
    received_count = 0

    def __init__(self, connection: kombu.Connection) -> None:
        self.connection = connection


@contextmanager
def hanging(broker: Broker) -> Iterator[None]:
    """Stop the broker's process; its machine goes on to acknowledge what it is sent."""
    process = broker.service._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: has_stopped(process.pid), what="the end of the last of its threads' work")
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def has_stopped(pid: int) -> bool:
    states = (path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{pid}/task").glob("*/stat"))
    return set(states) == {"T"}


def test_the_heart_of_a_worker_looks_for_two_seconds_at_most(broker: Broker) -> None:
    with broker.app.connection_for_read(heartbeat=0) as connection:
        intake, consumer = Intake(), Consuming(connection)
        assert intake.is_flowing(consumer, queues=[*QUEUES], room=1)  # it takes note of what was received
        wait_until(lambda: intake.is_flowing(consumer, queues=[*QUEUES], room=1), what="an answer within two seconds")
        with hanging(broker):
            asked_at = time.monotonic()
            assert not intake.is_flowing(consumer, queues=[*QUEUES], room=1)
            assert (
                time.monotonic() - asked_at < DEADLINE_SECONDS + 20
            )  # or else for ever, and the machine may stand still
        wait_until(lambda: intake.is_flowing(consumer, queues=[*QUEUES], room=1), what="an answer")


def test_a_worker_ends_when_it_is_told_to(broker: Broker, tmp_path: Path) -> None:
    worker = broker.start_worker(tmp_path)
    with broker.running(worker), hanging(broker):
        worker.send(signal.SIGTERM)
        wait_until(lambda: worker.exit_code is not None, seconds=40, what="the end of the worker")
        assert worker.exit_code == 0


def test_an_answer_that_comes_late_is_recognised_and_costs_no_channel(broker: Broker) -> None:
    with broker.app.connection_for_read(heartbeat=0) as connection:
        link = connection.connection
        depths(connection, QUEUES)
        before = len(link.channels)
        opened = connection.channel()
        with hanging(broker):
            with answering_within(connection, 0.1), pytest.raises(TimeoutError):
                opened.close()
            for _ in range(3):
                with answering_within(connection, 0.1), pytest.raises(TimeoutError):
                    depths(connection, QUEUES)
        assert depths(connection, QUEUES)[QUEUES[0]].waiting == 0

        def is_as_before() -> bool:
            drain(connection, seconds=0.1)
            return len(link.channels) == before

        wait_until(is_as_before, what="the end of all channels")
        assert connection.connection is link
