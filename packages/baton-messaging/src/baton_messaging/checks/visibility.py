"""Question 6: can progress be seen? By the person who asks, and by every process that must know the consumer."""

from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage

from baton_messaging.checks.objections import objection
from baton_messaging.consumer import consumer_tasks
from baton_messaging.health.registry import check_names

_IDS = ("UUID", "int", "str")


def check_discovery(**_kwargs: Any) -> list[CheckMessage]:
    """Find consumers that relay and pages do not know of: they import the tasks modules and nothing else."""
    return [
        objection(
            "E601",
            f"{task.name}: expected it in the tasks module of an installed app, got {task.handler.__module__}.",
            hint="Move it into tasks.py: elsewhere only a process that happens to import it sends it anything.",
        )
        for task in consumer_tasks()
        if "tasks" not in task.handler.__module__.split(".")[1:]
        or apps.get_containing_app_config(task.handler.__module__) is None
    ]


def check_dependencies(**_kwargs: Any) -> list[CheckMessage]:
    """Find consumers that depend on what nobody checks: it could not be told from a fault of theirs."""
    depending = [task for task in consumer_tasks() if task.depends_on]
    known = check_names() if depending else []
    return [
        objection(
            "E604",
            f"{task.name}: expected depends_on to name health checks ({', '.join(known)}), got {name!r}.",
            hint=f"Write one in the app's health.py: @health_check({name!r}), from baton_messaging.extend.health.",
        )
        for task in depending
        for name in task.depends_on
        if name not in known
    ]


def check_events(**_kwargs: Any) -> list[CheckMessage]:
    """Find events whose publisher cannot be named, or whose messages cannot be found by what they are about."""
    labels = {config.label for config in apps.get_app_configs()}
    found = []
    for event in sorted({task.event for task in consumer_tasks()}, key=lambda event: event.event_name):
        if event.event_name.partition(".")[0] not in labels:
            text = f'{event.__name__}: expected a name "<app>.<what happened>", got {event.event_name!r}.'
            found.append(objection("E602", text, hint="Its first part says whose event it is, and so who is called."))
        kind = getattr(event.model_fields[event.key_field].annotation, "__name__", "something else")
        if kind not in _IDS:
            text = f"{event.__name__}: expected an id as its key (UUID, int or str), got {event.key_field}: {kind}."
            found.append(objection("E603", text, hint="Pages and triage find a message by the id of what it is about."))
    return found
