"""PostgreSQL: one connection per thread or worker child, kept open."""

import dj_database_url

from config.env import env

_database = dj_database_url.parse(
    env.DATABASE_URL,
    conn_max_age=None,  # kept until it breaks: a connection per task costs more than the task
    conn_health_checks=True,  # one SELECT 1 per web request, so that a restarted server costs no 500
)

# A server that accepts connections and says nothing, or a firewall that swallows packets, counts as away after these;
# psycopg would wait for two minutes, and the system for a quarter of an hour. A liveness probe (docs/operations.md)
# takes 20 s of silence for a death, and a worker needs the time between its soft and its hard limit to requeue what
# it has. The URL may say otherwise: ?connect_timeout=3.
_TIMEOUTS = {
    "connect_timeout": 5,  # seconds, for each of the hosts
    "tcp_user_timeout": 5_000,  # milliseconds that what we sent may stay unconfirmed
    "keepalives_idle": 2,  # seconds of silence after which the other side is asked ...
    "keepalives_interval": 1,  # ... every so many seconds ...
    "keepalives_count": 3,  # ... so often
}
_database["OPTIONS"] = {**_TIMEOUTS, **_database.get("OPTIONS", {})}

DATABASES = {"default": _database}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
