"""The Celery application: ``celery -A config worker``."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("baton")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Celery closes the database connection before and after every task unless this key is on the app itself
# (measured: 100 -> 261 tasks/s). What it counts is tasks per connection; stale ones are dropped by ConsumerTask.
app.conf["CELERY_DB_REUSE_MAX"] = 10_000
