"""The Celery application: ``celery -A config worker``."""

import os
from typing import Any

from baton_messaging.install import install
from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("config")  # as -A takes it: triage and doctor name commands to paste
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
install(app)


@setup_logging.connect
def keep_django_logging(**_kwargs: Any) -> None:
    """Leave the logging that Django has set up: with a receiver of this signal, Celery installs none of its own."""
