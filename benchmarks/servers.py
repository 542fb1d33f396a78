"""PostgreSQL and Valkey of the bench's own, empty at the start, and an environment as a deployment has it."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import redis
from baton_dev.servers.embedded import Postgres, Valkey
from baton_dev.servers.ports import LOOPBACK, free_port
from psycopg import sql


@contextmanager
def servers(state_dir: Path) -> Iterator[None]:
    """Run both servers and point this process and its children at them. They write to disk as in production."""
    state_dir.mkdir(parents=True, exist_ok=True)
    with Postgres(state_dir) as postgres, Valkey(state_dir) as valkey:
        _empty(postgres.url, valkey.url)
        os.environ |= {
            "DATABASE_URL": postgres.url,
            "CELERY_BROKER_URL": valkey.url,
            "BATON_STATE_DIR": str(state_dir),
            "DJANGO_SETTINGS_MODULE": "benchmarks.settings",
            "DJANGO_DEBUG": "false",
            "DJANGO_SECRET_KEY": secrets.token_urlsafe(50),
            "DJANGO_ALLOWED_HOSTS": LOOPBACK,
            "ORDERS_PER_EMAIL": "0",  # thousands a minute from one client is what the bench is for
            "ORDERS_PER_CLIENT": "0",
            "PROXY_COUNT": "1",  # the clients of the bench say X-Forwarded-Proto, as the one in front would
            "WEB_HOST": LOOPBACK,
            "WEB_PORT": str(free_port(seed=str(state_dir / "web"))),
            "PYTHONUNBUFFERED": "1",
        }
        yield


def _empty(database_url: str, broker_url: str) -> None:
    with psycopg.connect(database_url) as database:
        database.execute("DROP SCHEMA public CASCADE")
        database.execute("CREATE SCHEMA public")
        # Hashed 4,096 times, as PostgreSQL does it. That of `make run` is hashed once, so that connecting costs half
        # (baton_dev/servers/postgres.py): plain Celery, which connects for each task, would look too good.
        password = sql.Literal(urlsplit(database_url).password)
        database.execute(sql.SQL("ALTER USER CURRENT_USER PASSWORD {}").format(password))
    with redis.Redis.from_url(broker_url) as broker:
        broker.flushall()
