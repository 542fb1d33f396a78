"""Question 5: has it one responsibility? One event, one queue of its own app, and no call into another app."""

from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage

from baton_messaging.checks.objections import objection
from baton_messaging.checks.source import Module, modules_of, project_apps
from baton_messaging.consumer import consumer_tasks
from baton_messaging.routing.ownership import queue_of
from baton_messaging.routing.queues import UnknownQueue


def check_own_queue(**_kwargs: Any) -> list[CheckMessage]:
    """Find consumers that travel through another app's queue: its owner would answer for them."""
    found = []
    for task in consumer_tasks():
        app_label = str(task.name).partition(".")[0]
        try:
            queue = queue_of(task.name)
        except UnknownQueue:
            continue  # that is baton.E401
        if queue.app_label != app_label:
            text = f"{task.name}: expected the queue {app_label} or a lane of it, got {queue.name}."
            hint = f'Give it a lane of its own ("{app_label}.…") in BATON["QUEUES"], with its owner.'
            found.append(objection("E501", text, hint=hint))
    return found


def check_imports(**_kwargs: Any) -> list[CheckMessage]:
    """Find tasks modules that import more of another app than its events."""
    packages = {config.name for config in project_apps()}
    return [
        objection(
            "E502",
            f"{module.name}: expected nothing but events from another app, got an import of {target}.",
            hint="Consume its event, publish one of your own; what is needed of its data belongs into the event.",
        )
        for module in _tasks_modules()
        for target in sorted(module.imported)
        if _is_foreign(target, module, packages) and not _is_of_events(target)
    ]


def _tasks_modules() -> list[Module]:
    names = {task.handler.__module__ for task in consumer_tasks()}
    configs = [config for config in project_apps() if any(name.startswith(f"{config.name}.") for name in names)]
    return [module for config in configs for module in modules_of(config) if module.name in names]


def _is_foreign(target: str, module: Module, packages: set[str]) -> bool:
    own = apps.get_containing_app_config(module.name)
    others = packages - ({own.name} if own else set())
    return any(target == name or target.startswith(f"{name}.") for name in others)


def _is_of_events(target: str) -> bool:
    return "events" in target.split(".")[1:]
