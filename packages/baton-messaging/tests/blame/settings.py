"""The tests' settings, so that each fault takes seconds: retries that wait, a killer that dies of its second run.

The sample consumers have an owner of their own here, so that blaming the platform for them would be seen.
"""

from baton_messaging.conf import Queue, Team
from baton_messaging.install import celery_queues

from tests.blame.queues import LANE, ODD
from tests.project.queues import QUEUES as _QUEUES
from tests.settings import *  # noqa: F403
from tests.settings import BATON as _BATON
from tests.settings import CELERY_BEAT_SCHEDULE as _SCHEDULE
from tests.settings import CELERY_BROKER_TRANSPORT_OPTIONS as _OPTIONS
from tests.settings import INSTALLED_APPS as _APPS

SAMPLE = Team("Sample team", "sample@example.com")
BLAME = Team("Blame team", "blame@example.com")
DELIVERY_LIMIT = 1

INSTALLED_APPS = [*_APPS, "tests.blame"]
QUEUES = (
    *(queue for queue in _QUEUES if queue.name != "sample"),
    Queue("sample", owner=SAMPLE),
    *(Queue(name, owner=BLAME) for name in ("blame", LANE, ODD)),
)
BATON = {**_BATON, "QUEUES": QUEUES, "RETRY_FLOOR_SECONDS": 30.0, "DATABASE_WAIT_SECONDS": 1}
CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=DELIVERY_LIMIT)
if "queues" in _OPTIONS:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        **_OPTIONS,
        "delivery_limit": DELIVERY_LIMIT,
        "queues": (*_OPTIONS["queues"], "blame", LANE, ODD),
    }
# What the reconciler would mend within the minute must stay broken until it was asked about.
CELERY_BEAT_SCHEDULE = {name: entry for name, entry in _SCHEDULE.items() if "reconcile" not in name}
