"""The result of a task is put together from what is known of its message: outbox, attempts, inbox and dead letters.

READY while it waits, for a retry too; RUNNING only while a living worker has it; FAILED when it is dead, or was
cancelled before it was due; SUCCESSFUL with what it returned.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from baton_messaging.diagnosis.message_states import MessageStates, Standing
from baton_messaging.diagnosis.triage.gather.processes import read_processes
from baton_messaging.messages.position import Position
from baton_messaging.models import Attempt, FutureMessage, OutboxMessage, TaskReturn
from baton_messaging.tasks_backend.declared import Declared
from baton_messaging.tasks_backend.interface import TaskError, TaskResult, TaskResultStatus

_MILLISECONDS: Final = 80  # bits that follow a UUIDv7's time


@dataclass(frozen=True)
class Failure:
    """One attempt that failed."""

    at: datetime
    worker: str
    error: TaskError


def result_of(declared: Declared, message_id: UUID, *, backend: str) -> TaskResult | None:
    """Return the result, None when nothing is kept of the message."""
    row = OutboxMessage.objects.filter(message_id=message_id).first()
    if row is not None:
        return _of_outbox(declared, row, backend)
    future = FutureMessage.objects.filter(message_id=message_id).first()
    return _of_future(declared, future, backend) if future is not None else None


def event_of_message(message_id: UUID) -> str:
    """Return the name of a message's event, empty when nothing is kept of it."""
    for model in (OutboxMessage, FutureMessage):
        found = model.objects.filter(message_id=message_id).values_list("name", flat=True).first()
        if found is not None:
            return str(found)
    return ""


def failures_of(message_id: UUID, consumer: str) -> list[Failure]:
    """Return the attempts that failed and are tried again, the first one first."""
    rows = Attempt.objects.filter(message_id=message_id, consumer=consumer, attempt__gt=0).order_by("round", "attempt")
    return [Failure(row.failed_at, row.worker, _error(row.error_class, row.traceback)) for row in rows]


def _of_future(declared: Declared, row: FutureMessage, backend: str) -> TaskResult:
    status = TaskResultStatus.FAILED if row.cancelled_at else TaskResultStatus.READY
    return _result(declared, row, backend, status=status, run_after=row.due_at, finished_at=row.cancelled_at)


def _of_outbox(declared: Declared, row: OutboxMessage, backend: str) -> TaskResult:
    states = MessageStates([], [row.message_id])
    standing = states.at((row.message_id, row.name), row)
    failures = failures_of(row.message_id, row.name)
    match standing.position:
        case Position.PROCESSED if standing.processed:
            return _successful(declared, row, backend, standing, failures)
        case Position.DEAD:
            return _failed(declared, row, backend, standing, failures)
        case _:
            return _under_way(declared, row, backend, failures)


def _successful(
    declared: Declared, row: OutboxMessage, backend: str, standing: Standing, failures: list[Failure]
) -> TaskResult:
    processed = standing.processed
    assert processed is not None  # noqa: S101 - the case before
    began_at = processed.processed_at - timedelta(milliseconds=processed.duration_ms)
    result = _result(
        declared,
        row,
        backend,
        status=TaskResultStatus.SUCCESSFUL,
        failures=failures,
        began_at=began_at,
        worker=processed.worker,
        finished_at=processed.processed_at,
    )
    kept = TaskReturn.objects.filter(message_id=processed.message_id).values_list("value", flat=True).first()
    object.__setattr__(result, "_return_value", kept)  # frozen: the interface's own backends do so, too
    return result


def _failed(
    declared: Declared, row: OutboxMessage, backend: str, standing: Standing, failures: list[Failure]
) -> TaskResult:
    dead_letter = standing.dead_letter
    assert dead_letter is not None  # noqa: S101 - the case before
    last = Failure(dead_letter.died_at, "", _error(dead_letter.error_class, dead_letter.traceback))
    return _result(
        declared,
        row,
        backend,
        status=TaskResultStatus.FAILED,
        failures=[*failures, last],
        finished_at=dead_letter.died_at,
    )


def _under_way(declared: Declared, row: OutboxMessage, backend: str, failures: list[Failure]) -> TaskResult:
    _processes, in_flight = read_processes()
    held = in_flight.get((str(row.message_id), row.name))
    if held is None or held.started_at is None or not held.process.is_fresh:
        return _result(declared, row, backend, status=TaskResultStatus.READY, failures=failures)
    return _result(
        declared,
        row,
        backend,
        status=TaskResultStatus.RUNNING,
        failures=failures,
        began_at=held.started_at,
        worker=held.process.name,
    )


def _result(
    declared: Declared,
    row: OutboxMessage | FutureMessage,
    backend: str,
    *,
    status: TaskResultStatus,
    failures: list[Failure] | None = None,
    began_at: datetime | None = None,
    worker: str = "",
    finished_at: datetime | None = None,
    run_after: datetime | None = None,
) -> TaskResult:
    failures = failures or []
    payload: dict[str, Any] = row.payload
    moments = [*(failure.at for failure in failures), *([began_at] if began_at else [])]
    return TaskResult(
        task=declared.task.using(run_after=run_after, backend=backend),
        id=str(row.message_id),
        status=status,
        enqueued_at=made_at(row.message_id),
        started_at=moments[0] if moments else None,
        finished_at=finished_at,
        last_attempted_at=moments[-1] if moments else None,
        args=payload["args"],
        kwargs=payload["kwargs"],
        backend=backend,
        errors=[failure.error for failure in failures],
        worker_ids=[*(failure.worker for failure in failures), *([worker] if began_at else [])],
    )


def _error(error_class: str, traceback: str) -> TaskError:
    path = error_class if "." in error_class else f"builtins.{error_class}"
    return TaskError(exception_class_path=path, traceback=traceback)


def made_at(message_id: UUID) -> datetime:
    """Return when a message was made: its id begins with that (UUIDv7)."""
    return datetime.fromtimestamp((message_id.int >> _MILLISECONDS) / 1000, UTC)
