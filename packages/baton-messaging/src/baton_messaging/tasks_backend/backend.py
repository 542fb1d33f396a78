"""The backend: what ``TASKS`` names. It publishes what is enqueued, and answers for results."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.core.checks import CheckMessage, Error
from django.db import transaction
from uuid_utils.compat import uuid7

from baton_messaging.conf import baton
from baton_messaging.errors import MessagingError
from baton_messaging.publish import publish_as
from baton_messaging.tasks_backend.declared import OWN_QUEUE, Declared, declare, declared_by_event
from baton_messaging.tasks_backend.interface import (
    BaseTaskBackend,
    InvalidTask,
    Task,
    TaskResult,
    TaskResultDoesNotExist,
    TaskResultStatus,
    normalize_json,
    signals,
)
from baton_messaging.tasks_backend.results import event_of_message, made_at, result_of
from baton_messaging.tasks_backend.running import run
from baton_messaging.tasks_backend.task import OutboxTask


class NoJSON(MessagingError, InvalidTask, TypeError):
    """An argument cannot be sent. A TypeError, as the interface's own backends raise."""

    def __init__(self, path: str, error: Exception) -> None:
        super().__init__(f"Expected JSON as arguments of {path}, got something else: {error}.")


class OutboxBackend(BaseTaskBackend):
    """Tasks go the way of every message: outbox, queue, inbox, and the dead letters if they fail for good.

    *Settings*. ``QUEUES``: "default", which means the queue of the task's app, and names of lanes, which tasks of their
    own app may name; an empty list means all of BATON's.

    *Invariant*. ``enqueue()`` inside a transaction is a row of it; outside one it commits its own. The broker may be
    down. The result's id is the message's.

    *Hazard*. Priority is by lane here: a queue with workers of its own (``queue_name``). So ``priority`` is refused.
    """

    task_class = OutboxTask
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = False

    def validate_task(self, task: Task) -> None:
        """Refuse what cannot be run; declare its consumer the first time. Raises InvalidTask."""
        super().validate_task(task)
        if task.queue_name not in self._declared(task).events:
            raise InvalidTask(
                f"Expected the queue of {task.module_path}'s app, or a lane of it, got {task.queue_name!r}."
            )

    def enqueue(self, task: Task, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:  # a TaskResult
        """Publish the task. Raises InvalidTask for what is no JSON, EventTooLarge."""
        self.validate_task(task)
        event = self._declared(task).events[task.queue_name]
        message_id = uuid7()
        given = {"args": _json(task, list(args)), "kwargs": _json(task, dict(kwargs))}
        with transaction.atomic():
            enqueued = event(task_id=message_id, backend=self.alias, **given)
            publish_as(message_id, enqueued, at=task.run_after)
        result = TaskResult(
            task=task,
            id=str(message_id),
            status=TaskResultStatus.READY,
            enqueued_at=made_at(message_id),
            started_at=None,
            finished_at=None,
            last_attempted_at=None,
            backend=self.alias,
            errors=[],
            worker_ids=[],
            **given,
        )
        signals.task_enqueued.send(sender=type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> TaskResult:
        """Return what became of a task. Raises TaskResultDoesNotExist."""
        try:
            message_id = UUID(str(result_id))
        except ValueError:
            raise TaskResultDoesNotExist(result_id) from None
        declared = declared_by_event(event_of_message(message_id))
        result = result_of(declared, message_id, backend=self.alias) if declared else None
        if result is None:
            raise TaskResultDoesNotExist(result_id)
        return result

    def check(self, **_kwargs: Any) -> list[CheckMessage]:
        """Name queues that Baton does not have."""
        known = {OWN_QUEUE, *(queue.name for queue in baton().queues)}
        return [
            Error(
                f"Expected QUEUES of the task backend {self.alias!r} to be queues of BATON, got {queue!r}.",
                hint=f'One of {", ".join(sorted(known))}; "{OWN_QUEUE}" is the queue of the task\'s app.',
                id="baton.E801",
            )
            for queue in sorted(self.queues - known)
        ]

    def _declared(self, task: Task) -> Declared:
        known = {OWN_QUEUE, *(queue.name for queue in baton().queues)}
        return declare(task, (self.queues or known) & known, run)


def _json(task: Task, value: Any) -> Any:
    try:
        return normalize_json(value)
    except (TypeError, ValueError) as error:
        raise NoJSON(task.module_path, error) from None
