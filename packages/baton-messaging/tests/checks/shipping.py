"""An app that exists for one test: `write` makes it, its checks are asked, and it is gone."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from baton_messaging import events
from baton_messaging.checks import DESIGN
from baton_messaging.conf import Queue, baton
from baton_messaging.routing import subscriptions
from baton_messaging.routing.queues import celery_queues
from celery import current_app
from django.conf import settings
from django.core.checks import CheckMessage, run_checks
from django.test import override_settings

from tests.project.queues import PLATFORM

EVENTS = """
from uuid import UUID
from baton_messaging.events import Event

class LabelWanted(Event, name="shipping.label_wanted", version=1, key="order_id"):
    order_id: UUID
"""
TASKS = """
from baton_messaging.consumer import consumer
from shipping import services
from shipping.events import LabelWanted

@consumer(LabelWanted)
def print_label(event: LabelWanted) -> None:
    services.print_label(event.order_id)
"""
SERVICES = """
def print_label(order_id):
    pass
"""


@contextmanager
def celery_conf(**changes: Any) -> Iterator[None]:
    """Change what the Celery application goes by."""
    conf = current_app.conf
    before = {name: conf[name] for name in changes}
    conf.update(changes)
    try:
        yield
    finally:
        conf.update(before)


@contextmanager
def shipping(folder: Path, *, queue: str = "shipping", **files: str) -> Iterator[None]:
    """Install the app, its files changed as told."""
    root = folder / "shipping"
    root.mkdir()
    sources = {"__init__": "", "events": EVENTS, "tasks": TASKS, "services": SERVICES, **files}
    for name, text in sources.items():
        (root / f"{name}.py").write_text(text)
    queues = (*baton().queues, Queue(queue, owner=PLATFORM))
    subscriptions.import_consumers()
    before = dict(subscriptions._subscriptions._items), dict(events._events._items), set(current_app.tasks)
    sys.path.insert(0, str(folder))
    try:
        with (
            override_settings(
                INSTALLED_APPS=[*settings.INSTALLED_APPS, "shipping"], BATON={**settings.BATON, "QUEUES": queues}
            ),
            celery_conf(task_queues=celery_queues(queues, delivery_limit=3), broker_transport_options=_options(queue)),
        ):
            importlib.invalidate_caches()
            importlib.import_module("shipping.tasks")
            yield
    finally:
        sys.path.remove(str(folder))
        _forget(*before)


def objections(folder: Path, *, queue: str = "shipping", **files: str) -> list[CheckMessage]:
    """Return what the checks say about the app, and about nothing else."""
    with shipping(folder, queue=queue, **files):
        found = [*run_checks(), *run_checks(tags=[DESIGN], include_deployment_checks=True)]
        return [message for message in found if str(message.id).startswith("baton.")]


def _options(queue: str) -> dict[str, object]:
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    return {**options, "queues": (*options["queues"], queue)} if "queues" in options else options


def _forget(by_consumer: dict[str, Any], register: dict[Any, Any], tasks: set[str]) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "shipping"]:
        del sys.modules[name]
    known: dict[Any, Any]
    for known, kept in ((subscriptions._subscriptions._items, by_consumer), (events._events._items, register)):
        known.clear()
        known.update(kept)  # type: ignore[arg-type]
    for name in set(current_app.tasks) - tasks:
        del current_app.tasks[name]
