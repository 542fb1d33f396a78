"""PostgreSQL: one connection per thread or worker child, kept open."""

import dj_database_url

from config.env import env

DATABASES = {
    "default": {
        **dj_database_url.parse(
            env.DATABASE_URL,
            conn_max_age=None,  # kept until it breaks: a connection per task costs more than the task
            conn_health_checks=True,  # one SELECT 1 per web request, so that a restarted server costs no 500
        ),
    },
}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
