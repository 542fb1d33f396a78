"""Steps of an adoption, in the order in which they are written: each looks whether it is done, and plans what is not.

Invariant: a project in which the first of them are written starts, and a second run plans the rest: queues, Celery
application, settings, which need the queues, and the URLs, which need the app in the settings.
"""

import ast
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.conf import settings
from django.urls import Resolver404, URLResolver, get_resolver, resolve

from baton_messaging.adoption import bindings, celery_block
from baton_messaging.adoption.placing import ByHand, Plan, add_import, append
from baton_messaging.adoption.project import CeleryModule, Project
from baton_messaging.adoption.settings_steps import plan_celery_settings, plan_lists, queues_file
from baton_messaging.checks.prerequisites import check_database
from baton_messaging.install import is_installed

QUEUES_FILE: Final = '''\
"""Queues, each with its owner: Celery's queues come from this table, and the owner that triage names."""

from baton_messaging.conf import Queue, Team

PLATFORM = Team("Platform team", "platform@example.com")

QUEUES = (
    Queue("baton", owner=PLATFORM),  # Baton's own tasks
    # One for each app that consumes events, named like the app, with the people who answer for it:
{examples})
'''
CELERY_FILE: Final = '''"""The Celery application."""

import os

from baton_messaging.install import install
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", {settings})

app = Celery({name})
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
install(app)
'''
_HEALTH_URLS: Final = 'path("", include("baton_messaging.urls"))'
_END: Final = "at the end of"


def plan_for(project: Project) -> Plan:
    """Return all that is missing, and where it goes. Raises Unreadable."""
    plan = Plan()
    for step in (_queues, _application, plan_lists, plan_celery_settings, _urls, _database):
        step(project, plan)
    return plan


# --- Queues ----------------------------------------------------------------------------------------------------------


def _queues(project: Project, plan: Plan) -> None:
    if celery_block.is_declared():
        return
    plan.missing.append("BATON and its table of queues")
    path = queues_file(project)
    if not path.exists():
        examples = "".join(
            f'    # Queue("{label}", owner=Team("The team of {label}", "{label}@example.com")),\n'
            for label in _own_apps(project) or ["shipping"]
        )
        plan.create(path, QUEUES_FILE.format(examples=examples))


def _own_apps(project: Project) -> list[str]:
    return sorted(app.label for app in apps.get_app_configs() if project.is_own(Path(app.path).resolve() / "apps.py"))


# --- The Celery application ------------------------------------------------------------------------------------------


def _application(project: Project, plan: Plan) -> None:
    celery = project.celery
    if celery is None:
        name = "celery" if project.package else "celery_app"  # a bare celery.py would stand before Celery itself
        path = project.package_folder / f"{name}.py"
        if path.exists():
            why = "no Celery application is to be found in it."
            plan.leave("a Celery application", ByHand(str(path), why, _lines_of("app")))
            return
        plan.missing.append("a Celery application")
        text = CELERY_FILE.format(settings=_quoted(project.settings_module), name=_quoted(project.package or "app"))
        plan.create(path, text)
        _import_with_settings(project, plan, project.dotted(name), "app")
        return
    if celery.app is None or not is_installed(celery.app):
        plan.missing.append("install(app)")
        _install(plan, celery)
    if not celery.was_imported:
        plan.missing.append("the Celery application imported with the settings")
        _import_with_settings(project, plan, celery.module, celery.variable)


def _install(plan: Plan, celery: CeleryModule) -> None:
    source = plan.source(celery.path)
    *_, last = (statement for statement in source.tree.body if _is_about(statement, celery.variable))
    add_import(source, "baton_messaging.install", ["install"])
    source.insert_lines(source.next_line(source.end_of(last)), f"install({celery.variable})\n")


def _is_about(statement: ast.stmt, variable: str) -> bool:
    """Tell whether a statement makes the application or configures it: `app = …`, `app.…(…)`, `app.conf.… = …`."""
    match statement:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            pass
        case ast.Expr(value=ast.Call(func=target)):
            pass
        case _:
            return False
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name) and target.id == variable


def _import_with_settings(project: Project, plan: Plan, module: str, variable: str) -> None:
    """Let whatever has the settings have the application: by their package, or by themselves where there is none."""
    package = project.package
    if package and module.startswith(f"{package}."):
        init = project.package_folder / "__init__.py"
        alias = "" if variable == "celery_app" else " as celery_app"
        line = f"from {module} import {variable}{alias}\n"
        text = f'{line}\n__all__ = ["celery_app"]\n'
        if not init.exists() or not init.read_bytes().strip():
            plan.create(init, text) if not init.exists() else plan.source(init).insert_lines(0, text)
        else:
            source = plan.source(init)
            append(source, f"{line.rstrip()}  # noqa: E402, F401 - so that messages are sent by it\n")
    elif project.settings_modules:
        origin = project.origin_of("INSTALLED_APPS") or project.settings_modules[-1]
        append(plan.source(project.file_of(origin)), f"import {module}  # noqa: E402, F401 - messages are sent by it\n")
    else:
        plan.by_hand.append(
            ByHand("where the settings are made", "the application must be imported.", f"import {module}")
        )


# --- URLs ------------------------------------------------------------------------------------------------------------


def _urls(project: Project, plan: Plan) -> None:
    if _has_urls():
        return
    try:
        resolve("/healthz")
    except Resolver404:
        pass
    else:
        return  # the project answers it itself; a second answer would be in its way
    path = project.file_of(settings.ROOT_URLCONF)
    if not project.is_own(path):
        why = "it is no file of this project."
        plan.leave("/healthz and /readyz", ByHand(f"{_END} {settings.ROOT_URLCONF}", why, _HEALTH_URLS))
        return
    plan.missing.append("/healthz and /readyz")
    source = plan.source(path)
    add_import(source, "django.urls", ["include", "path"])
    literal = bindings.literal_of(source.tree.body, "urlpatterns")
    if literal is not None:
        bindings.add_to_literal(source, literal, [_HEALTH_URLS])
    else:
        append(source, f"urlpatterns += [{_HEALTH_URLS}]\n")


def _has_urls() -> bool:
    def walk(patterns: Sequence[Any]) -> Iterator[str]:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                yield getattr(pattern.urlconf_module, "__name__", "")
                yield from walk(pattern.url_patterns)

    return "baton_messaging.urls" in walk(get_resolver().url_patterns)


def _database(project: Project, plan: Plan) -> None:
    for finding in check_database():
        plan.leave(
            "PostgreSQL", ByHand("DATABASES", finding.msg.partition(": ")[2], str(finding.hint).partition(": ")[2])
        )


def _lines_of(variable: str) -> str:
    return f"from baton_messaging.install import install\ninstall({variable})"


def _quoted(text: str) -> str:
    return json.dumps(text)
