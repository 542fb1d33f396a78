"""The Celery application of the tests' project: ``celery -A tests.project worker``."""

import os
from typing import Any

from baton_messaging.install import install
from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

app = Celery("tests")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
install(app)


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
