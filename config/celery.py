"""The Celery application: ``celery -A config worker``."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

from messaging.transport.install import install
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

install()  # before any connection: redis:// now means a Redis with dead-lettering, delivery limit and leases

app = Celery("baton")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Celery closes the database connection before and after every task unless this key is on the app itself
# (measured: 100 -> 261 tasks/s). What it counts is tasks per connection; stale ones are dropped by ConsumerTask.
app.conf["CELERY_DB_REUSE_MAX"] = 10_000


@setup_logging.connect
def keep_django_logging(**_kwargs: Any) -> None:
    """Leave the logging that Django has set up: with a receiver of this signal, Celery installs none of its own."""
