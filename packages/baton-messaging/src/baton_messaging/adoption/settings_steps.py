"""Settings of the project: INSTALLED_APPS, MIDDLEWARE, BATON, and what Celery is told, or the lines for a person."""

import ast
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from django.apps import apps
from django.conf import settings

from baton_messaging.adoption import bindings, celery_block
from baton_messaging.adoption.celery_block import Context
from baton_messaging.adoption.placing import ByHand, Plan, add_imports, add_items, append
from baton_messaging.adoption.project import Project
from baton_messaging.adoption.source import Source, parsed
from baton_messaging.checks.celery_values import MIDDLEWARE, REQUEST_IDS
from baton_messaging.checks.prerequisites import APPS


def queues_file(project: Project) -> Path:
    """Return where the table is, or would be: beside another file of that name under a name of its own."""
    path = project.package_folder / "queues.py"
    if path.exists() and (tree := parsed(path)) and not any(bindings.bindings(tree.body, "QUEUES")):
        return path.with_name("baton_queues.py")
    return path


def plan_lists(project: Project, plan: Plan) -> None:
    """Plan INSTALLED_APPS and MIDDLEWARE."""
    missing = [name for name in (*APPS, "baton_messaging") if not apps.is_installed(name)]
    if missing:
        _add_to_list(project, plan, "INSTALLED_APPS", missing)
    layers = list(settings.MIDDLEWARE)
    if MIDDLEWARE not in layers:
        _add_to_list(project, plan, "MIDDLEWARE", [MIDDLEWARE], before=_place_of_middleware)


_Before = Callable[[list[str | None]], int | None]


def _at_the_end(_items: list[str | None]) -> None:
    return None


def _place_of_middleware(there: list[str | None]) -> int | None:
    """Return the index of what comes behind it: first, but for django-structlog, whose request id it takes."""
    index = there.index(REQUEST_IDS) + 1 if REQUEST_IDS in there else 0
    return index if index < len(there) else None


def _add_to_list(project: Project, plan: Plan, setting: str, items: list[str], before: _Before = _at_the_end) -> None:
    what = f"{setting}: {', '.join(items)}"
    if project.is_in_a_class and (found := _class_with(project, setting)):
        path, body = found
        source = plan.source(path)
        if bindings.literal_of(body, setting):
            plan.missing.append(what)
            add_items(source, setting, items, body=body, before=before)
            return
    origin = project.origin_of(setting)
    if not origin or project.is_in_a_class:
        where = f"the setting {setting}" + (f", of class {_configuration()}" if project.is_in_a_class else "")
        lines = "".join(f'"{item}",\n' for item in items)
        plan.leave(what, ByHand(where, "where it gets its value is not to be seen from its files.", lines))
        return
    plan.missing.append(what)
    is_tuple = isinstance(project.namespace(origin).get(setting), tuple)
    add_items(plan.source(project.file_of(origin)), setting, items, before=before, is_tuple=is_tuple)


def _class_with(project: Project, setting: str) -> tuple[Path, list[ast.stmt]] | None:
    """Return the body of the one class that gives a setting its value (django-configurations)."""
    found = []
    for path in {project.file_of(project.settings_module), *(project.file_of(one) for one in project.settings_modules)}:
        source = Source.read(path)
        for statement in source.tree.body:
            if isinstance(statement, ast.ClassDef) and any(bindings.bindings(statement.body, setting)):
                found.append((path, statement.body))
    return found[0] if len(found) == 1 else None


def _configuration() -> str:
    return os.environ.get("DJANGO_CONFIGURATION", "")


def plan_celery_settings(project: Project, plan: Plan) -> None:
    """Plan BATON and what Celery is told."""
    app = project.app
    keys = [] if project.celery and project.celery.app is None else celery_block.missing_keys(app)
    for key in [key for key in keys if not celery_block.is_placeable(app, key)]:
        keys.remove(key)
        plan.by_hand.append(ByHand(*celery_block.objection_to(app, key)))
    plan.by_hand += [ByHand(*found) for found in celery_block.left_to_people(app)]
    if project.prefix is None:
        _print_settings(project, plan, keys)
        return
    origin = _home(project, [f"{project.prefix}BROKER_URL", f"{project.prefix}TASK_SERIALIZER", "INSTALLED_APPS"])
    if (keys or not celery_block.is_declared()) and (not origin or project.is_in_a_class):
        _print_settings(project, plan, keys)
        return
    plan.missing += [f"{project.prefix}{key.upper()}" for key in keys]
    if not keys and celery_block.is_declared():
        return
    source = plan.source(project.file_of(origin))
    context = Context(app, project.prefix, project.namespace(origin), _literals(source.tree))
    text = _with_setting_baton(celery_block.block(context, keys))
    add_imports(source, list(_imports(project, text)))
    append(source, text)
    _warn_of_overriding(project, plan, project.prefix, keys, origin)


def _home(project: Project, names: list[str]) -> str:
    return next((origin for name in names if (origin := project.origin_of(name))), "")


def _with_setting_baton(text: str) -> str:
    head = "" if celery_block.is_declared() else 'BATON = {"QUEUES": QUEUES}\n'
    return f"# --- Baton: events that do not get lost, and always have an owner ---\n{head}{text}"


def _imports(project: Project, text: str) -> Iterator[tuple[str, list[str]]]:
    if "os.environ" in text:
        yield "os", []
    if "kombu." in text:
        yield "kombu", []
    names = [name for name in ("beat_schedule", "broker_settings", "celery_queues") if f"{name}(" in text]
    names += ["route_task"] if "route_task" in text else []
    if names:
        yield "baton_messaging.install", names
    if "QUEUES" in text:
        yield _queues_module(project), ["QUEUES"]


def _queues_module(project: Project) -> str:
    return project.dotted(queues_file(project).stem)


def _literals(tree: ast.Module) -> frozenset[str]:
    """Return the names that are bound to a text, not to what the environment says."""
    return frozenset(
        target.id
        for one in tree.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
        for target in one.targets
        if isinstance(target, ast.Name)
    )


def _print_settings(project: Project, plan: Plan, keys: list[str]) -> None:
    """Leave the settings to a person: they are made in a way that a line at the end of a file would not reach."""
    if not keys and celery_block.is_declared():
        return
    prefix = project.prefix if project.prefix is not None else "CELERY_"
    bound = {name: getattr(settings, name) for name in dir(settings) if name.startswith(prefix)}
    text = _with_setting_baton(celery_block.block(Context(project.app, prefix, bound), keys))
    imports = "".join(
        f"from {module} import {', '.join(names)}\n" if names else f"import {module}\n"
        for module, names in _imports(project, text)
    )
    where, why = "your settings", "where they get their values is not to be seen from their files."
    if project.is_in_a_class:
        where = f"the class {_configuration()} of {project.settings_module}"
        why = "settings in a class are made in ways that a line below does not reach."
    elif project.prefix is None and project.celery:
        where = f"the settings of the Celery application in {project.celery.path.name}"
        why = "it does not read Django's settings under a namespace; write the names as it does."
    plan.leave("Celery's settings", ByHand(where, why, f"{imports}\n{text}"))


def _warn_of_overriding(project: Project, plan: Plan, prefix: str, keys: list[str], origin: str) -> None:
    """Name settings modules of other environments that give a new value to what the block is made from."""
    made_from = {f"{prefix}{key.upper()}" for key in keys if key in celery_block.MADE_FROM}
    made_from |= {f"{prefix}BROKER_URL"} if "broker_transport_options" in keys else set()
    home = project.file_of(origin)
    later = [project.file_of(one) for one in project.settings_modules] + project.overriding_files
    for path in dict.fromkeys(later):
        tree = parsed(path) if path != home else None
        for name in sorted(made_from) if tree else ():
            found = list(bindings.bindings(tree.body, name)) if tree else []
            if found and not found[-1].is_addition:
                lines = celery_block.lines_made_from(name, prefix)
                plan.by_hand.append(
                    ByHand(f"at the end of {path}", f"it gives {name} a value of its own after {home.name}.", lines)
                )
