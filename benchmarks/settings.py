"""The project's settings as deployed (no debug), with the tables, consumers and the plain view of the bench."""

from config.queues import PLATFORM
from config.queues import QUEUES as PROJECT_QUEUES
from config.settings import *  # noqa: F403
from config.settings import CELERY_BROKER_TRANSPORT_OPTIONS as _OPTIONS
from config.settings import DELIVERY_LIMIT
from config.settings import INSTALLED_APPS as _APPS
from config.settings import MESSAGING as _MESSAGING
from baton_messaging.routing.queues import Queue, celery_queues

INSTALLED_APPS = [*_APPS, "benchmarks"]
ROOT_URLCONF = "benchmarks.urls"
QUEUES = (*PROJECT_QUEUES, Queue("benchmarks", owner=PLATFORM))
MESSAGING = {**_MESSAGING, "QUEUES": QUEUES}
CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=DELIVERY_LIMIT)
CELERY_BROKER_TRANSPORT_OPTIONS = {**_OPTIONS, "queues": (*_OPTIONS["queues"], "benchmarks")}
