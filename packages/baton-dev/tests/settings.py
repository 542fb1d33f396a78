"""Settings of the tests: the tables that the processes of a Baton project say of themselves in, and nothing else."""

import os
from pathlib import Path

import dj_database_url
from baton_messaging.conf import Queue, Team

BASE_DIR = Path(__file__).resolve().parent
TEST_APPLICATION = "tests"
SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "only for the checks of types, which connect to nothing")
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.postgres",
    "django_celery_results",
    "baton_messaging",
]
DATABASES = {"default": dj_database_url.parse(os.environ.get("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none"))}
BATON = {"QUEUES": (Queue("baton", owner=Team("Platform team", "platform@example.com")),)}
