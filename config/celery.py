"""The Celery application: ``celery -A config worker``."""

import os
from typing import Any

from baton_messaging.broker.transports import install
from celery import Celery
from celery.signals import setup_logging, task_prerun, worker_process_init, worker_process_shutdown
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

install()  # before any connection: redis:// now means a Redis with dead-lettering, delivery limit and leases

app = Celery("baton")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add(
    "baton_messaging.processes.worker:HeartbeatStep"
)  # each worker says that it lives, and what it holds
# Celery closes the database connection before and after every task unless this key is on the app itself
# (measured: 100 -> 261 tasks/s). What it counts is tasks per connection; stale ones are dropped by ConsumerTask.
app.conf["CELERY_DB_REUSE_MAX"] = 10_000


@task_prerun.connect
def check_database_connection(task: Any, **_kwargs: Any) -> None:
    """Let housekeeping find a living connection (F25). A consumer asks nobody beforehand: it waits and runs again."""
    from baton_messaging.consumer import ConsumerTask  # noqa: PLC0415 - Django's models are ready only now

    if not isinstance(task, ConsumerTask):
        close_old_connections()


@setup_logging.connect
def keep_django_logging(**_kwargs: Any) -> None:
    """Leave the logging that Django has set up: with a receiver of this signal, Celery installs none of its own."""


@worker_process_init.connect
def start_tracing(**_kwargs: Any) -> None:
    """Trace in each child: what sends the traces does not survive a fork."""
    from baton_messaging.messages import tracing  # noqa: PLC0415 - as above

    tracing.start("worker")


@worker_process_shutdown.connect
def stop_tracing(**_kwargs: Any) -> None:
    """Send what is left of the traces."""
    from baton_messaging.messages import tracing  # noqa: PLC0415 - as above

    tracing.stop()
