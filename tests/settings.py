"""The project's settings, with short times to wait for."""

from config.settings import *  # noqa: F403
from config.settings import BATON as _BATON
from config.settings import CELERY_BROKER_TRANSPORT_OPTIONS as _OPTIONS
from config.settings import EXPORTS as _EXPORTS

TEST_APPLICATION = "config"  # what baton_dev.testing starts workers of
BATON = {
    **_BATON,
    "DATABASE_WAIT_SECONDS": 2,
    "HEARTBEAT_SECONDS": 1,  # what a process says of itself is what tests wait for
    "HEARTBEAT_STALE_SECONDS": 3,
    "RECONCILE_GRACE_SECONDS": 2,
}
if "queues" in _OPTIONS:  # Redis; what a killed worker had taken comes back while a test waits for it
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        **_OPTIONS,
        "visibility_timeout": 9,
        "lease_renewal_seconds": 1.5,
        "unacked_restore_interval": 1.5,
        "socket_timeout": 3,
        "socket_connect_timeout": 3,
    }
CELERY_BEAT_MAX_LOOP_INTERVAL = 1  # below HEARTBEAT_STALE_SECONDS: a tick is beat's heartbeat
WHITENOISE_AUTOREFRESH = True  # else each test client reads all static files before its first request
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # logging in is not what tests wait for
# A killed worker's export is taken up while a test waits for it.
EXPORTS = {**_EXPORTS, "LEASE_SECONDS": 3}
