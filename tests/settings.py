"""The project's settings, and one app more: the sample consumers that tests make misbehave."""

from baton_messaging.broker.options import redis_options
from baton_messaging.conf import Queue
from baton_messaging.routing.queues import celery_queues

from config.queues import PLATFORM
from config.queues import QUEUES as PROJECT_QUEUES
from config.settings import *  # noqa: F403
from config.settings import BATON as _MESSAGING
from config.settings import CELERY_BROKER_TRANSPORT_OPTIONS as _OPTIONS
from config.settings import DELIVERY_LIMIT
from config.settings import EXPORTS as _EXPORTS
from config.settings import INSTALLED_APPS as _APPS

INSTALLED_APPS = [*_APPS, "tests.sample"]
QUEUES = (*PROJECT_QUEUES, Queue("sample", owner=PLATFORM))
BATON = {
    **_MESSAGING,
    "QUEUES": QUEUES,
    "DATABASE_WAIT_SECONDS": 2,  # below the short limits of tests/sample
    "HEARTBEAT_SECONDS": 1,  # what a process says of itself is what tests wait for
    "HEARTBEAT_STALE_SECONDS": 3,
    "RECONCILE_GRACE_SECONDS": 2,
}
CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=DELIVERY_LIMIT)
if "queues" in _OPTIONS:  # Redis; what a killed worker had taken comes back while a test waits for it
    _TABLE = {name: _OPTIONS[name] for name in ("exchange", "dead_letter_queue", "delivery_limit")}
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        **_OPTIONS,
        **redis_options(**_TABLE, queues=(*_OPTIONS["queues"], "sample"), visibility_timeout=9),
    }
CELERY_BEAT_MAX_LOOP_INTERVAL = 1  # below HEARTBEAT_STALE_SECONDS: a tick is beat's sign of life
WHITENOISE_AUTOREFRESH = True  # else each test client reads all static files before its first request
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # logging in is not what tests wait for
# A killed worker's export is taken up while a test waits for it.
EXPORTS = {**_EXPORTS, "LEASE_SECONDS": 3}
