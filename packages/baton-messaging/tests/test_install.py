"""What ``install(app)`` does, and what it leaves to plain tasks as it was."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from baton_dev.project import PROJECT_DIR
from baton_dev.testing.processes import process_environment
from baton_messaging import tasks as package_tasks
from baton_messaging.broker.redis import transport as redis_transport
from baton_messaging.conf import BadSetting
from baton_messaging.install import beat_schedule, broker_settings, install, is_installed
from celery import Celery, current_app
from celery.bootsteps import StartStopStep
from celery.signals import task_postrun, task_prerun
from celery.utils.imports import symbol_by_name
from django.apps import AppConfig
from django.conf import settings as project
from django.db import connection

from tests.sample.tasks import take_one


@pytest.fixture
def app() -> Iterator[Celery]:
    app = Celery("adopter", set_as_current=False, fixups=[])
    yield app
    app.close()


def plain_task(app: Celery) -> Any:
    def resize_image() -> bool:
        return connection.connection is not None

    return app.task(name="shop.resize_image")(resize_image)


def send(signal: Any, task: Any) -> None:
    signal.send(sender=task, task=task, task_id="1", args=(), kwargs={})


@pytest.mark.parametrize("is_configured", [False, True])
def test_an_application_gets_transports_and_heartbeat_however_often_it_is_asked(
    app: Celery, is_configured: bool
) -> None:
    if is_configured:
        assert app.conf.task_acks_late is False
    assert not is_installed(app)
    install(app)
    install(app)
    assert is_installed(app)
    assert all(issubclass(symbol_by_name(step), StartStopStep) for step in app.steps["worker"])
    assert type(app.connection_for_write("redis://localhost").transport) is redis_transport.Transport
    assert app.conf.get("CELERY_DB_REUSE_MAX") == 10_000  # which Celery's integration of Django asks for


def test_a_number_of_the_projects_own_stays(app: Celery) -> None:
    app.conf["CELERY_DB_REUSE_MAX"] = 5
    install(app)
    assert app.conf.get("CELERY_DB_REUSE_MAX") == 5


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("signal", [task_prerun, task_postrun])
def test_a_plain_task_begins_and_ends_without_a_connection_as_on_stock_celery(app: Celery, signal: Any) -> None:
    install(app)
    connection.ensure_connection()
    send(signal, plain_task(app))
    assert connection.connection is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "task_of", [lambda app: take_one, plain_task], ids=["a consumer", "a task of an application without Baton"]
)
def test_of_others_the_connection_stays_open(app: Celery, task_of: Callable[[Celery], Any]) -> None:
    install(current_app)
    connection.ensure_connection()
    task = task_of(app)
    for signal in (task_prerun, task_postrun):
        send(signal, task)
    assert connection.connection is not None


@pytest.mark.django_db(transaction=True)
def test_a_task_that_is_run_by_its_caller_uses_the_callers_connection(app: Celery) -> None:
    install(app)
    connection.ensure_connection()
    assert plain_task(app).apply().get() is True
    assert connection.connection is not None


@pytest.mark.parametrize("url", [None, "", "localhost"])
def test_what_is_no_url_of_a_broker_is_refused_without_repeating_it(url: Any) -> None:
    with pytest.raises(BadSetting, match="expected a URL such as redis://localhost:6379/0, got none"):
        broker_settings(url, project.BATON["QUEUES"], delivery_limit=3)


def test_the_schedule_has_each_task_of_the_package_and_none_expires_after_the_next_tick() -> None:
    entries = beat_schedule()
    declared = {task.name for task in vars(package_tasks).values() if hasattr(task, "apply_async")}
    assert {entry["task"] for entry in entries.values()} == declared
    assert all(name == entry["task"] for name, entry in entries.items())


def test_the_module_is_imported_while_settings_are_read_and_asks_for_none() -> None:
    probe = "import baton_messaging.install, django.conf, sys; print(django.conf.settings.configured, *sys.modules)"
    environment = {**process_environment(), "DJANGO_SETTINGS_MODULE": "nowhere"}
    ended = subprocess.run(
        [sys.executable, "-c", probe], cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, check=True
    )
    is_configured, *modules = ended.stdout.split()
    assert is_configured == "False"
    heavy = {"django.apps", "django.db", "baton_messaging.consumer", "baton_messaging.models", "psycopg", "redis"}
    assert heavy & {*modules} == set()


def test_the_keys_of_our_tables_do_not_go_by_the_projects_default(settings: Any) -> None:
    settings.DEFAULT_AUTO_FIELD = "django.db.models.AutoField"  # Django's, too, before 6.0
    assert AppConfig.create("baton_messaging").default_auto_field == "django.db.models.BigAutoField"
