"""A declared task is a consumer of one event, whose name is the task's: "<app>.<function>".

Each lane of its app gets a consumer of its own ("<app>.<function>_on_<queue>"), because a consumer has one queue, which
pauses, circuits, owners and the board are about. ``.using(queue_name=…)`` chooses among them. A queue of another app is
another team's (baton.E501).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from baton_messaging.consumer import Policy, consumer
from baton_messaging.events import Event
from baton_messaging.routing.discovery import Registry
from baton_messaging.tasks_backend.interface import Task

#: Django's name for the queue of a task that names none: here it is the queue of the task's app.
OWN_QUEUE: Final = "default"
_NO_WORD: Final = re.compile(r"\W")


class Enqueued(Event, name="baton.task_enqueued", version=1, key="task_id"):
    """Base of the events that tasks are enqueued by. ``task_id`` is the message's id, and the result's."""

    task_id: UUID
    args: list[Any]
    kwargs: dict[str, Any]
    backend: str


@dataclass(frozen=True)
class Declared:
    """A task as its module declares it, and the event that each of its queues takes."""

    task: Task
    events: dict[str, type[Enqueued]]


_declared: Registry[str, Declared] = Registry("tasks")  # by the path of the function
_by_event: Registry[str, str] = Registry("tasks")


def declare(task: Task, queues: Iterable[str], run: Callable[[Declared, Enqueued], None]) -> Declared:
    """Make a task the consumer of its events, once: ``using()`` makes new tasks of the same function."""
    known = _declared.peek(task.module_path)
    if known:
        return known
    declared, app = Declared(task, {}), app_of(task)
    for queue in sorted(queue for queue in set(queues) if queue in (OWN_QUEUE, app) or queue.startswith(f"{app}.")):
        declared.events[queue] = _consumer_for(declared, queue, run)
        _by_event.add(declared.events[queue].event_name, task.module_path)
    _declared.add(task.module_path, declared)
    return declared


def app_of(task: Task) -> str:
    """Return the label of the app that a task is of."""
    return str(task.func.__module__.removesuffix(".tasks").rpartition(".")[2])


def declared_by_event(event_name: str) -> Declared | None:
    """Return the task that an event enqueues, None if it is no task's."""
    path = _by_event.get(event_name)
    return _declared.get(path) if path else None


def _consumer_for(declared: Declared, queue: str, run: Callable[[Declared, Enqueued], None]) -> type[Enqueued]:
    task = declared.task
    name = task.name if queue == task.queue_name else f"{task.name}_on_{_NO_WORD.sub('_', queue)}"
    app = app_of(task)
    event = type(
        f"{task.name}_enqueued", (Enqueued,), {"__module__": __name__}, name=f"{app}.{name}", version=1, key="task_id"
    )

    def handler(enqueued: Enqueued) -> None:
        run(declared, enqueued)

    handler.__module__, handler.__name__, handler.__doc__ = task.func.__module__, name, task.func.__doc__
    handler.__wrapped__ = task.func  # type: ignore[attr-defined]  # the design checklist reads the task's own source
    options = {} if queue == OWN_QUEUE else {"queue": queue}
    policy = getattr(task, "policy", None) or Policy()
    consumer(event, policy=Policy(**{"bundle_size": 1, **policy.options, **options}))(handler)
    return event
