"""A task's body runs as any consumer's: in the transaction of its inbox row, unless its policy says otherwise."""

from typing import Any

from celery import current_task
from django.db import transaction
from django.utils import timezone

from baton_messaging.models import TaskReturn
from baton_messaging.signals import dead_lettered
from baton_messaging.tasks_backend.declared import Declared, Enqueued, declared_by_event
from baton_messaging.tasks_backend.interface import TaskContext, TaskResult, TaskResultStatus, normalize_json, signals
from baton_messaging.tasks_backend.results import failures_of, result_of


def run(declared: Declared, enqueued: Enqueued) -> None:
    """Run the task, and keep what it returns. Raises what it raises, and TypeError for what is no JSON."""
    task = declared.task
    result = _begun(declared, enqueued)
    backend = type(task.get_backend())
    signals.task_started.send(sender=backend, task_result=result)
    arguments = (TaskContext(task_result=result), *result.args) if task.takes_context else tuple(result.args)
    value = normalize_json(task.call(*arguments, **result.kwargs))
    TaskReturn.objects.keep(enqueued.task_id, value)
    _set(result, status=TaskResultStatus.SUCCESSFUL, finished_at=timezone.now(), _return_value=value)
    transaction.on_commit(lambda: signals.task_finished.send(sender=backend, task_result=result), robust=True)


def tell_of_death(*, message_id: Any, consumer: str, **_kwargs: Any) -> None:
    """Send Django's signal for a task that failed for good. A receiver of ``dead_lettered``."""
    declared = declared_by_event(consumer)
    if declared is None or message_id is None:
        return
    backend = declared.task.get_backend()
    result = result_of(declared, message_id, backend=backend.alias)
    if result is not None:
        transaction.on_commit(lambda: signals.task_finished.send(sender=type(backend), task_result=result), robust=True)


dead_lettered.connect(tell_of_death, dispatch_uid="baton.tasks_backend")


def _begun(declared: Declared, enqueued: Enqueued) -> TaskResult:
    worker = (current_task.request.hostname if current_task else "") or ""
    now = timezone.now()
    failed = failures_of(enqueued.task_id, enqueued.event_name)
    return TaskResult(
        task=declared.task,
        id=str(enqueued.task_id),
        status=TaskResultStatus.RUNNING,
        enqueued_at=None,
        started_at=failed[0].at if failed else now,
        finished_at=None,
        last_attempted_at=now,
        args=enqueued.args,
        kwargs=enqueued.kwargs,
        backend=enqueued.backend,
        errors=[failure.error for failure in failed],
        worker_ids=[*(failure.worker for failure in failed), worker],
    )


def _set(result: TaskResult, **changes: Any) -> None:
    """Change a result that is frozen, as the interface's own backends do."""
    for name, value in changes.items():
        object.__setattr__(result, name, value)
