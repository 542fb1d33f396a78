"""The project's settings as deployed (no debug), with the tables, consumers and the plain view of the bench."""

from baton_messaging.conf import Queue
from baton_messaging.routing.queues import celery_queues

from config.queues import PLATFORM
from config.queues import QUEUES as PROJECT_QUEUES
from config.settings import *  # noqa: F403
from config.settings import BATON as _PROJECT
from config.settings import CELERY_BROKER_TRANSPORT_OPTIONS as _OPTIONS
from config.settings import DELIVERY_LIMIT
from config.settings import INSTALLED_APPS as _APPS

INSTALLED_APPS = [*_APPS, "benchmarks"]
ROOT_URLCONF = "benchmarks.urls"
QUEUES = (*PROJECT_QUEUES, Queue("benchmarks", owner=PLATFORM))
BATON = {**_PROJECT, "QUEUES": QUEUES}
CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=DELIVERY_LIMIT)
CELERY_BROKER_TRANSPORT_OPTIONS = {**_OPTIONS, "queues": (*_OPTIONS["queues"], "benchmarks")}
