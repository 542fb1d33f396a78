"""Question 2: can a consumer's failure reach the producer? Only if code waits for a result."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from celery import current_app
from django.core.checks import CheckMessage

from baton_messaging.checks.objections import objection
from baton_messaging.checks.source import Module, modules_that_mention
from baton_messaging.consumer import consumer_tasks

_MENTION = re.compile(r"AsyncResult|\bdelay\(|apply_async\(|send_task\(|propagate\s*=")
_MAKING_RESULTS = frozenset({"AsyncResult", "GroupResult", "delay", "apply_async", "send_task"})
_WAITING = frozenset({"get", "wait", "join", "join_native", "maybe_throw", "collect", "iterate"})


def check_kept_results(**_kwargs: Any) -> list[CheckMessage]:
    """Find consumers whose result somebody could wait for."""
    return [
        objection(
            "E201",
            f"{task.name}: expected ignore_result=True, got {task.ignore_result}.",
            hint="Publish an event about the outcome; the inbox is the record of what was done.",
        )
        for task in consumer_tasks()
        if not task.ignore_result
    ]


def check_waiting(**_kwargs: Any) -> list[CheckMessage]:
    """Find code that waits for the result of a task: its failure, and its time, become the caller's."""
    return [
        objection(
            "E202",
            f"Expected nobody to wait for a task, got a wait for its result in {module.at(call)}.",
            hint="Let the consumer publish an event about its outcome, and a consumer of this side take it up.",
        )
        for module in modules_that_mention(_MENTION)
        for call in _waits(module)
    ]


def check_eager(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse to run consumers inside the process that publishes.

    ``task_eager_propagates`` alone changes nothing for them: only ``apply()`` asks for it, which is a test's.
    """
    if not current_app.conf.task_always_eager:
        return []
    text = "Expected CELERY_TASK_ALWAYS_EAGER off, got it on: a consumer would run, and fail, inside the producer."
    return [objection("E203", text, hint="Remove the setting; tests run against a real worker (tests/conftest.py).")]


def _waits(module: Module) -> Iterator[ast.Call]:
    results = {name for node in module.nodes for name in _names_of_results(node)}
    for call in module.calls():
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _WAITING:
            continue
        of = call.func.value
        is_of_result = isinstance(of, ast.Name) and of.id in results
        if is_of_result or _makes_result(of) or any(keyword.arg == "propagate" for keyword in call.keywords):
            yield call


def _names_of_results(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign) and _makes_result(node.value):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _makes_result(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return last in _MAKING_RESULTS
