"""Question 3: is it idempotent? By the inbox, which shares the handler's transaction, or by a declared reason."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.core.checks import CheckMessage

from baton_messaging.checks.objections import objection
from baton_messaging.checks.source import Module
from baton_messaging.consumer import ConsumerTask, consumer_tasks

#: Modules whose use is an effect that no rollback takes back.
OUTSIDE: Final = (
    "django.core.mail", "smtplib", "requests", "httpx", "aiohttp", "urllib3", "urllib.request", "http.client", "boto3",
    "botocore", "stripe", "paramiko", "ftplib", "subprocess",
)  # fmt: skip


def check_declared_idempotence(**_kwargs: Any) -> list[CheckMessage]:
    """Find consumers that run outside a transaction and do not say what makes repeating them safe."""
    return [
        objection(
            "E301",
            f"{task.name}: expected idempotent_by=… of a consumer with atomic=False, got none.",
            hint="Without a transaction the inbox row cannot hold back a second effect. Say what does, as in "
            'idempotent_by="the state machine of Export".',
        )
        for task in consumer_tasks()
        if not task.atomic and not task.idempotent_by
    ]


def check_effects_outside(**_kwargs: Any) -> list[CheckMessage]:
    """Find consumers that reach outside the database with several messages in one transaction."""
    suspects = [task for task in consumer_tasks() if task.bundle_size > 1 and not task.idempotent_by]
    outside = {name: _first_outside(name) for name in {task.handler.__module__ for task in suspects}}
    return [
        objection(
            "W302",
            f"{task.name}: expected bundle_size=1 of a consumer that reaches outside the database, got "
            f"{task.bundle_size} and an import of {outside[task.handler.__module__]}.",
            hint="What went out cannot be rolled back with its neighbours: take bundle_size=1, or declare "
            "idempotent_by=… if this consumer does not use that module or repeating it is safe.",
        )
        for task in suspects
        if outside[_module_of(task)]
    ]


def _module_of(task: ConsumerTask) -> str:
    return task.handler.__module__


def _first_outside(module: str) -> str:
    """Return the first such import of the tasks module, or of a module of its app that it leads to; else ""."""
    for target in sorted(_imported(module, app=module.partition(".")[0], seen=set())):
        if any(target == name or target.startswith(f"{name}.") for name in OUTSIDE):
            return target
    return ""


def _imported(name: str, *, app: str, seen: set[str]) -> Iterator[str]:
    module = _module_named(name)
    if module is None or name in seen:
        return
    seen.add(name)
    for target in module.imported:
        yield target
        if target == app or target.startswith(f"{app}."):
            yield from _imported(target if _module_named(target) else target.rpartition(".")[0], app=app, seen=seen)


def _module_named(name: str) -> Module | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # the name of a function or class, not of a module
        return None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    return Module(name, Path(spec.origin), is_package=spec.submodule_search_locations is not None)
