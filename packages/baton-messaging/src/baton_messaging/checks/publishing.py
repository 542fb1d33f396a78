"""Question 1: is the producer's success defined? It is, if a message leaves with the commit of what it tells of."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage

from baton_messaging.checks.objections import objection
from baton_messaging.checks.source import Module, modules_that_mention
from baton_messaging.consumer import consumer_tasks

_SENDING = frozenset({"delay", "apply_async", "apply", "s", "si", "signature", "map", "starmap", "chunks", "run"})
_BY_NAME = frozenset({"send_task", "signature"})


def check_publishing(**_kwargs: Any) -> list[CheckMessage]:
    """Find code that hands work to a consumer past the outbox."""
    tasks = consumer_tasks()
    by_path = {f"{task.handler.__module__}.{task.handler.__name__}": str(task.name) for task in tasks}
    if not by_path:
        return []
    words = "|".join(sorted({re.escape(path.rpartition(".")[2]) for path in by_path}))
    found = modules_that_mention(re.compile(rf"\b({words})\b"))
    return [
        objection(
            "E101",
            f"Expected {name} to be reached by publish() only, got a call past the outbox in {module.at(call)}.",
            hint="Publish its event in the transaction of the change: a rollback then takes the message with it, and a "
            "broker that is away keeps nobody waiting.",
        )
        for module in found
        for call, name in _calls_of_consumers(module, by_path)
    ]


def _calls_of_consumers(module: Module, by_path: dict[str, str]) -> Iterator[tuple[ast.Call, str]]:
    names = set(by_path.values())
    for call in module.calls():
        target = module.dotted(call.func)
        if target in by_path:
            yield call, by_path[target]
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _SENDING:
            name = by_path.get(module.dotted(call.func.value) or "")
            if name:
                yield call, name
        named = _first_text(call)
        if target and target.rpartition(".")[2] in _BY_NAME and named in names:
            yield call, str(named)


def _first_text(call: ast.Call) -> Any:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("name", "task"))]
    first = arguments[0] if arguments else None
    return first.value if isinstance(first, ast.Constant) else None
