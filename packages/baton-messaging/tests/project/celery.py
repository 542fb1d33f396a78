"""The Celery application of the tests' project: ``celery -A tests.project worker``."""

import os
from typing import Any

from baton_messaging.broker.transports import install
from celery import Celery
from celery.signals import setup_logging, task_prerun, worker_process_init, worker_process_shutdown
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

install()

app = Celery("tests")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add("baton_messaging.processes.worker:HeartbeatStep")
app.conf["CELERY_DB_REUSE_MAX"] = 10_000


@task_prerun.connect
def check_database_connection(task: Any, **_kwargs: Any) -> None:
    from baton_messaging.consumer import ConsumerTask

    if not isinstance(task, ConsumerTask):
        close_old_connections()


@setup_logging.connect
def keep_django_logging(**_kwargs: Any) -> None: ...


@worker_process_init.connect
def start_tracing(**_kwargs: Any) -> None:
    from baton_messaging.messages import tracing

    tracing.start("worker")


@worker_process_shutdown.connect
def stop_tracing(**_kwargs: Any) -> None:
    from baton_messaging.messages import tracing

    tracing.stop()
