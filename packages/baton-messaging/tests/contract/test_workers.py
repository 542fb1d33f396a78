"""A worker dies, is stopped, is cut off, or outlives its broker: nothing is lost, and nothing running is run again."""

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from baton_dev.testing.processes import Process, wait_until
from baton_messaging.broker.options import RENEWALS_PER_LEASE

from tests.contract.brokers import (
    ALL_QUEUES,
    LONG_VISIBILITY_TIMEOUT,
    VISIBILITY_TIMEOUT,
    Broker,
    lines,
    open_gate,
    wait_for_lines,
)
from tests.contract.celery_app import ALERT_HEARTBEAT_SECONDS, FINISHED, QUEUES, STARTED


def test_long_task_runs_once(broker: Broker, path: Path, tmp_path: Path) -> None:
    """Longer than the visibility timeout, with another worker at hand, and once more during a warm shutdown."""
    workers = [broker.start_worker(tmp_path, visibility_timeout=LONG_VISIBILITY_TIMEOUT) for _ in range(2)]
    with broker.running(*workers):
        broker.send("wait", path)
        wait_for_lines(path, STARTED)
        let_leases_run_out(broker)
        (holder,) = (worker for worker in workers if "Task wait" in worker.output())
        holder.send(signal.SIGTERM)
        let_leases_run_out(broker)
        open_gate(path, 1)
        wait_until(lambda: holder.exit_code is not None, what="the end of the worker")

        assert holder.exit_code == 0
        assert lines(path) == [STARTED, FINISHED]
        wait_until(lambda: is_drained(broker), what="an acknowledgement")


@pytest.mark.parametrize("session_broker", ["rabbitmq"], indirect=True)  # it makes no difference which
def test_worker_told_to_stop_waits_for_what_a_child_is_about_to_run(broker: Broker, path: Path, tmp_path: Path) -> None:
    worker = broker.start_worker(tmp_path)
    with broker.running(worker):
        (child,) = map(int, Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split())
        os.kill(child, signal.SIGSTOP)
        broker.send("record", path, "x" * 300_000)  # more than the child's pipe holds
        worker.wait_for_output("Task record")
        wait_until(lambda: is_answering(worker, broker, seconds=2), what="a loop that turns")  # so the pipe is full
        worker.send(signal.SIGTERM)
        wait_until(lambda: not is_answering(worker, broker, seconds=1), what="the end of the worker's loop")
        os.kill(child, signal.SIGCONT)
        wait_until(lambda: worker.exit_code is not None, seconds=40, what="the end of the worker")

        assert worker.exit_code == 0
        assert len(lines(path)) == 1
        assert is_drained(broker)


def test_worker_leaves_to_others_what_it_has_no_child_for(broker: Broker, path: Path, tmp_path: Path) -> None:
    """A second message in flight would wait behind the long task while somebody else has nothing to do (F50)."""
    busy, behind = broker.start_worker(tmp_path), path.with_name("behind")
    with broker.running(busy):
        broker.send("wait", path)
        wait_for_lines(path, STARTED)
        for _ in range(2):
            broker.send("record", behind)
        with broker.running(broker.start_worker(tmp_path)):
            wait_for_lines(behind, FINISHED, FINISHED)  # or else not before the gate opens
            open_gate(path, 1)
            wait_for_lines(path, STARTED, FINISHED)


@pytest.mark.parametrize("session_broker", ["valkey"], indirect=True)  # RabbitMQ knows no leases
def test_long_task_runs_once_in_every_pool(broker: Broker, path: Path, tmp_path: Path) -> None:
    tasks = {path.with_name(pool): (pool, queue) for pool, queue in zip(("solo", "threads"), QUEUES, strict=True)}
    workers = [
        broker.start_worker(tmp_path, queue, pool=pool, visibility_timeout=LONG_VISIBILITY_TIMEOUT)
        for pool, queue in tasks.values()
        for _ in range(2)
    ]
    with broker.running(*workers):
        for runs, (_pool, queue) in tasks.items():
            broker.send("wait", runs, queue=queue)
        for runs in tasks:
            wait_for_lines(runs, STARTED)
        let_leases_run_out(broker)
        for runs in tasks:
            open_gate(runs, 1)
            wait_for_lines(runs, STARTED, FINISHED)
        wait_until(lambda: is_drained(broker), what="an acknowledgement")
    assert [lines(runs) for runs in tasks] == [[STARTED, FINISHED]] * 2


def test_worker_that_consumes_all_queues_leaves_the_dead_letters_alone(
    broker: Broker, path: Path, tmp_path: Path
) -> None:
    """Without -Q, Celery would run what has died."""
    worker = broker.start_worker(tmp_path, ALL_QUEUES)
    with broker.running(worker):
        task_id = broker.send("reject", path)
        wait_for_lines(path, STARTED)
        behind = path.with_name("behind")
        broker.send("record", behind)
        wait_for_lines(behind, FINISHED)

        assert broker.dead_letter(task_id)
        assert lines(path) == [STARTED]


def test_remote_control_is_answered(broker: Broker, worker: Process) -> None:
    """Its queues are of another kind: shared with nobody, and not acknowledged."""

    def answers() -> list[list[str]]:
        with broker.app.connection_for_write() as connection:
            found = broker.app.control.inspect(timeout=3, connection=connection).active_queues() or {}
        return [[queue["name"] for queue in queues] for queues in found.values()]

    # A broadcast reaches who listens at that moment; the worker may still be connecting after the test before.
    wait_until(lambda: answers() == [[QUEUES[1]]], what="one answer, of the worker of that queue")


@pytest.mark.parametrize("session_broker", ["rabbitmq"], indirect=True)  # on Redis a queue need not be declared
def test_worker_declares_the_dead_letter_queue(broker: Broker, path: Path, tmp_path: Path) -> None:
    with broker.app.connection_for_write() as connection:
        channel: Any = connection.default_channel
        channel.queue_delete("dead_letters")
        with broker.running(broker.start_worker(tmp_path)):
            channel.queue_declare("dead_letters", passive=True)


def test_message_of_a_killed_worker_is_taken_up_by_another(broker: Broker, path: Path, tmp_path: Path) -> None:
    doomed = broker.start_worker(tmp_path)
    with broker.running(doomed):
        broker.send("wait", path)
        wait_for_lines(path, STARTED)
        other = broker.start_worker(tmp_path)
        with broker.running(other):
            doomed.kill()
            open_gate(path, 2)
            wait_for_lines(path, STARTED, STARTED, FINISHED)
            wait_until(lambda: is_drained(broker), what="an acknowledgement")


def test_stopped_worker_that_goes_on_disturbs_nobody(broker: Broker, path: Path, tmp_path: Path) -> None:
    """Its late ack must not end the delivery that somebody else has by then: a third run proves that it did not."""
    stopped = broker.start_worker(tmp_path, alert=True)
    with broker.running(stopped):
        broker.send("wait", path)
        wait_for_lines(path, STARTED)
        stopped.send(signal.SIGSTOP)
        second = broker.start_worker(tmp_path)
        with broker.running(second):
            wait_for_lines(path, STARTED, STARTED, seconds=VISIBILITY_TIMEOUT + 4 * ALERT_HEARTBEAT_SECONDS + 10)
            open_gate(path, 1)
            stopped.send(signal.SIGCONT)
            wait_for_lines(path, STARTED, STARTED, FINISHED)
            wait_until(lambda: has_noticed(stopped), what="the stopped worker to notice that it is late")
        open_gate(path, 3)
        wait_for_lines(path, STARTED, STARTED, FINISHED, STARTED, FINISHED)
        wait_until(lambda: is_drained(broker), what="an acknowledgement")
        assert stopped.exit_code is None


def test_broker_restarts_under_a_running_task_and_an_idle_worker(restarted: Broker, path: Path, tmp_path: Path) -> None:
    broker = restarted
    busy, idle = broker.start_worker(tmp_path, QUEUES[0]), broker.start_worker(tmp_path, QUEUES[1])
    after_busy, after_idle = path.with_name("busy"), path.with_name("idle")
    with broker.running(busy, idle):
        broker.send("wait", path)
        wait_for_lines(path, STARTED)

        broker.service.stop()
        broker.service.start()
        for run in (1, 2):
            open_gate(path, run)
        broker.send("record", after_busy, queue=QUEUES[0])
        broker.send("record", after_idle, queue=QUEUES[1])

        wait_for_lines(after_idle, FINISHED, seconds=30)
        wait_for_lines(after_busy, FINISHED, seconds=30)
        wait_until(lambda: is_drained(broker), seconds=30, what="an acknowledgement")
        assert (busy.exit_code, idle.exit_code) == (None, None)
    assert lines(path).count(FINISHED) in (1, 2)  # the first run may have been acknowledged over a new connection


@pytest.mark.parametrize("session_broker", ["valkey"], indirect=True)  # on RabbitMQ there is no lease to renew
def test_worker_survives_connections_that_are_cut_again_and_again(broker: Broker, path: Path, tmp_path: Path) -> None:
    """Among them that over which it renews the lease of a running task."""
    worker = broker.start_worker(tmp_path)
    after = path.with_name("after")
    with broker.running(worker), broker.client() as client:
        broker.send("wait", path)
        wait_for_lines(path, STARTED)
        deadline = time.monotonic() + VISIBILITY_TIMEOUT
        while time.monotonic() < deadline:
            client.execute_command("CLIENT", "KILL", "SKIPME", "yes")
            time.sleep(0.15)
        for run in (1, 2, 3):
            open_gate(path, run)
        broker.send("record", after)

        wait_for_lines(after, FINISHED, seconds=30)
        assert worker.exit_code is None
        wait_until(lambda: broker.depth().total == 0, what="an acknowledgement")
    assert FINISHED in lines(path)


@pytest.fixture
def restarted(broker: Broker) -> Iterator[Broker]:
    """Leave the broker running, whatever becomes of the test."""
    yield broker
    broker.service.start()


def let_leases_run_out(broker: Broker) -> None:
    """Wait until another worker has returned what nobody renews: it is the passing of time that is tested."""
    if broker.is_valkey:  # RabbitMQ knows no leases
        time.sleep(LONG_VISIBILITY_TIMEOUT * (1 + 1 / (2 * RENEWALS_PER_LEASE)) + 0.5)


def is_drained(broker: Broker) -> bool:
    """Tell whether nothing waits, nothing is taken, and nothing died."""
    return broker.depth().total == 0 and broker.depth("dead_letters").total == 0


def is_answering(worker: Process, broker: Broker, *, seconds: float) -> bool:
    """Tell whether the loop of a worker turns."""
    (name,) = re.findall(r"(\S+@contract) ready\.", worker.output())
    with broker.app.connection_for_write() as connection:
        return bool(broker.app.control.ping([name], timeout=seconds, connection=connection))


def has_noticed(worker: Process) -> bool:
    """Tell whether a worker has said that its ack came too late, or its connection is gone."""
    return any(sign in worker.output() for sign in ("late_ack_ignored", "Couldn't ack", "Connection to broker lost"))
