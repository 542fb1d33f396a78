"""PostgreSQL: one connection per thread or worker child, kept open."""

import dj_database_url

from config.env import env

_database = dj_database_url.parse(
    env.DATABASE_URL,
    conn_max_age=None,  # kept until it breaks: a connection per task costs more than the task
    conn_health_checks=True,  # one SELECT 1 per web request, so that a restarted server costs no 500
)

# Seconds until a server that accepts connections and says nothing, or a firewall that swallows packets, counts as away;
# psycopg would wait for two minutes, and a liveness probe (docs/operations.md) takes 20 s of silence for a death. The
# URL may say otherwise: ?connect_timeout=5.
_database["OPTIONS"] = {"connect_timeout": 10, **_database.get("OPTIONS", {})}

DATABASES = {"default": _database}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
