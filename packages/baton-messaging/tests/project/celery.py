"""The Celery application of the tests' project: ``celery -A tests.project worker``."""

import os
from typing import Any

from baton_messaging.install import install
from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

app = Celery("tests.project")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
install(app)


@setup_logging.connect
def keep_django_logging(**_kwargs: Any) -> None:
    """Leave the logging that Django has set up."""
