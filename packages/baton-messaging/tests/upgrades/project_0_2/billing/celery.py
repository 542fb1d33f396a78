"""The Celery application."""

import os

from baton_messaging.install import install
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "billing.settings")

app = Celery("billing")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
install(app)
