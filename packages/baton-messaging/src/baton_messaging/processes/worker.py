"""A worker's heartbeat is written by the timer of its event loop, the loop that takes messages and hands them out.

Celery's bootstep, added by baton_messaging.install. The loop also turns while the pool drains, and while the broker is
away (worker/consumer.py calls between two tries to connect), so a worker that waits for its broker lives; it only does
not consume. Hazard: with the pool ``solo`` a task *is* the loop, and one that runs for longer than
HEARTBEAT_STALE_SECONDS looks dead.
"""

import os
from time import monotonic
from typing import Any, Final

from celery import bootsteps
from celery.signals import worker_shutdown, worker_shutting_down
from celery.worker import state

from baton_messaging.conf import baton
from baton_messaging.processes.heartbeat import Beat, HeartbeatWriter
from baton_messaging.processes.in_flight import in_flight_of
from baton_messaging.processes.intake import Intake

FORK_WAIT_SECONDS: Final = 1.0  # for a beat that is being written; a fork is rare, and takes longer than that


class HeartbeatStep(bootsteps.StartStopStep):
    """Lets a worker say that it lives, from the moment its children have been forked."""

    requires = ("celery.worker.components:Pool",)

    def start(self, worker: Any) -> None:
        """Begin to beat."""
        writer = HeartbeatWriter("worker", worker.hostname)
        heartbeat = WorkerHeartbeat(worker, writer)
        ending = Ending()
        _keep_connection_from_children(writer)
        worker.consumer.while_connecting = heartbeat.beat_if_due
        worker.consumer.watch = writer.watch  # remote_control.py answers from it
        worker.timer.call_repeatedly(baton().heartbeat_seconds, heartbeat.beat)
        worker_shutting_down.connect(ending.note_signal, weak=False)
        worker_shutdown.connect(lambda **_kwargs: writer.stop(ending.by), sender=worker, weak=False)
        writer.start()
        heartbeat.beat()

    def stop(self, worker: Any) -> None:
        """Go on beating: the pool drains now."""

    def terminate(self, worker: Any) -> None:
        """Leave the row to get old: what was in flight goes back to the broker, and is run again."""


class Ending:
    """How a worker comes to its end."""

    def __init__(self) -> None:
        self.by = "stopped by remote control"  # else a signal says so

    def note_signal(self, *, sig: str, how: str, **_kwargs: Any) -> None:
        """Note which signal it was: Celery tells while it handles it."""
        self.by = f"stopped by {sig} ({how.lower()} shutdown)"


class WorkerHeartbeat:
    """What the loop of one worker says of itself, beat by beat."""

    def __init__(self, worker: Any, writer: HeartbeatWriter) -> None:
        self._worker = worker
        self._heartbeat = writer
        self._intake = Intake()
        self._queues_at_start = sorted(worker.consumer.app.amqp.queues.consume_from)
        self._finished_count = 0
        self._finished: float | None = None

    def beat_if_due(self) -> None:
        """Beat while the loop is busy with connecting."""
        if self._heartbeat.is_due:
            self.beat()

    def beat(self) -> None:
        """Ask the queues, and say what is so."""
        consumer = self._worker.consumer
        queues, capacity = sorted(consumer.app.amqp.queues.consume_from), int(consumer.initial_prefetch_count or 0)
        room = capacity - len(set(state.active_requests) | set(state.reserved_requests))
        is_consuming = self._intake.is_flowing(consumer, queues=queues, room=room) and not consumer.refusal
        if is_consuming or consumer.refusal:
            consumer.note_broker(consumer.refusal)
            consumer.note_broker(consumer.remote_control_refusal, part="remote control")
        # After that question, during which RabbitMQ may deliver: the reconciler trusts a beat to name all it has.
        active, reserved, now = set(state.active_requests), set(state.reserved_requests), monotonic()
        self._count_finished(len(active), now)
        received = consumer.received_at
        self._heartbeat.beat(
            Beat(
                is_consuming=is_consuming,
                queues=queues,
                unconsumed_queues=sorted({*self._queues_at_start} - {*queues} - {*consumer.left_out_queues}),
                capacity=capacity,
                child_count=max(self._worker.pool.num_processes, self._worker.max_concurrency or 0),  # autoscaled
                running=in_flight_of(active),
                reserved=in_flight_of(reserved - active),
                received_count=consumer.received_count,
                finished_count=self._finished_count,
                received_age=None if received is None else now - received,
                finished_age=None if self._finished is None else now - self._finished,
            )
        )

    def _count_finished(self, active_count: int, now: float) -> None:
        """Count what was started and does not run any more. When the last one ended is known to a beat."""
        count = state.all_total_count[0] - active_count
        if count > self._finished_count:
            self._finished_count, self._finished = count, now


def _keep_connection_from_children(writer: HeartbeatWriter) -> None:
    """Let no child be forked while a connection is open (F21)."""
    held: list[bool] = []

    def before() -> None:
        held.append(writer.hold(FORK_WAIT_SECONDS))

    def after_in_parent() -> None:
        if held.pop():
            writer.go_on()

    os.register_at_fork(before=before, after_in_parent=after_in_parent)
