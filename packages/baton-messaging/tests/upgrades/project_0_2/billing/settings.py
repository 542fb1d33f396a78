"""Settings, as the README of 0.2.0 told; the key is the one that signed the messages in ../dump_0_2.sql."""

import os

import dj_database_url
from baton_messaging.install import beat_schedule, broker_settings, celery_queues, route_task
from billing.queues import QUEUES

SECRET_KEY = "signs-the-messages-that-wait-in-the-dump-of-this-project"
DEBUG = True
ALLOWED_HOSTS = ["*"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
ROOT_URLCONF = "billing.urls"
DATABASES = {"default": dj_database_url.parse(os.environ["DATABASE_URL"])}
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.postgres",
    "django_celery_results",
    "baton_messaging",
    "invoices",
]
MIDDLEWARE = ["baton_messaging.middleware.correlate", "django.middleware.common.CommonMiddleware"]

BATON = {
    "QUEUES": QUEUES,
    "INBOX_RETENTION_DAYS": 36_500,  # the dump's messages are as old as the dump
    "DEAD_LETTER_RETENTION_DAYS": 36_000,
    "HEARTBEAT_SECONDS": 1,
    "HEARTBEAT_STALE_SECONDS": 3,
}

_broker = broker_settings(os.environ["CELERY_BROKER_URL"], QUEUES, delivery_limit=3)
CELERY_BROKER_READ_URL = _broker.url
CELERY_BROKER_WRITE_URL = _broker.url
CELERY_BROKER_TRANSPORT_OPTIONS = _broker.transport_options
CELERY_BROKER_USE_SSL = _broker.use_ssl
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=3)
CELERY_TASK_ROUTES = (route_task,)
CELERY_TASK_DEFAULT_QUEUE = "baton"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_CONSUMER = "baton_messaging.worker.consumer:Consumer"
CELERY_WORKER_POOL = "baton_messaging.worker.pool:TaskPool"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BEAT_SCHEDULER = "baton_messaging.processes.scheduler:Scheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 1
CELERY_BEAT_SCHEDULE = {**beat_schedule()}
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_REJECT_ON_WORKER_LOST = False
CELERY_TASK_ACKS_ON_FAILURE = True
CELERY_TASK_ACKS_ON_TIMEOUT = True
CELERY_TASK_TIME_LIMIT = None
CELERY_TASK_SOFT_TIME_LIMIT = None
