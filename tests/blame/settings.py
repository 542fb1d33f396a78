"""The tests' settings, so that each fault takes seconds: retries that wait, a killer that dies of its second run.

The sample consumers have an owner of their own here, so that blaming the platform for them would be seen.
"""

import os
from pathlib import Path

from baton_messaging.broker.options import redis_options
from baton_messaging.conf import Queue, Team
from baton_messaging.routing.queues import celery_queues

from tests.blame.queues import LANE, ODD
from tests.settings import *  # noqa: F403
from tests.settings import BASE_DIR
from tests.settings import BATON as _MESSAGING
from tests.settings import CELERY_BEAT_SCHEDULE as _SCHEDULE
from tests.settings import CELERY_BROKER_TRANSPORT_OPTIONS as _OPTIONS
from tests.settings import INSTALLED_APPS as _APPS
from tests.settings import QUEUES as _QUEUES
from tests.settings import STORAGES as _STORAGES
from tests.settings import TEMPLATES as _TEMPLATES

SAMPLE = Team("Sample team", "sample@example.com")
BLAME = Team("Blame team", "blame@example.com")
DELIVERY_LIMIT = 1
BROKEN_TEMPLATES = Path(os.environ["BATON_STATE_DIR"]) / "broken-templates"

INSTALLED_APPS = [*_APPS, "tests.blame"]
QUEUES = (  # type: ignore[assignment]  # the tests' has another length
    *(queue for queue in _QUEUES if queue.name != "sample"),
    Queue("sample", owner=SAMPLE),
    *(Queue(name, owner=BLAME) for name in ("blame", LANE, ODD)),
)
BATON = {**_MESSAGING, "QUEUES": QUEUES, "RETRY_FLOOR_SECONDS": 30.0, "DATABASE_WAIT_SECONDS": 1}
CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=DELIVERY_LIMIT)
if "queues" in _OPTIONS:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        **_OPTIONS,
        **redis_options(
            exchange=_OPTIONS["exchange"],
            dead_letter_queue=_OPTIONS["dead_letter_queue"],
            delivery_limit=DELIVERY_LIMIT,
            queues=(*_OPTIONS["queues"], "blame", LANE, ODD),
            visibility_timeout=9,
        ),
    }
# What the reconciler would mend within the minute must stay broken until it was asked about.
CELERY_BEAT_SCHEDULE = {name: entry for name, entry in _SCHEDULE.items() if "reconcile" not in name}
TEMPLATES = [{**_TEMPLATES[0], "DIRS": [BROKEN_TEMPLATES, BASE_DIR / "templates"]}]
STORAGES = {**_STORAGES, "exports": {**_STORAGES["exports"], "BACKEND": "tests.blame.storages.Moody"}}
