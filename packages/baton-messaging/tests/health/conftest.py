"""Servers in a bad state, and back."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from baton_dev.servers.ports import LOOPBACK
from baton_dev.testing.processes import url_of_test_database
from baton_messaging.health.condition import Health
from baton_messaging.health.run import run_checks
from django.db import connections
from psycopg import sql

Check = Callable[..., Health]


@pytest.fixture
def check() -> Check:
    """Run one check. The deadline is long where the answer is tested, and not the time."""

    def run(name: str, *, deadline_seconds: float = 10.0) -> Health:
        (health,) = run_checks([name], deadline_seconds=deadline_seconds)
        return health

    return run


@pytest.fixture
def admin(transactional_db: None) -> Iterator["psycopg.Connection[Any]"]:
    """Connect as the superuser, to whom no setting of the database or the role applies."""
    with psycopg.connect(url_of_test_database(), autocommit=True) as own:
        own.execute("SET default_transaction_read_only = off; SET synchronous_commit = local; SET search_path = public")
        yield own


@pytest.fixture
def set_for_database(admin: "psycopg.Connection[Any]") -> Iterator[Callable[[str, str], None]]:
    """Set something for all sessions of the database that begin from now on."""
    names: list[str] = []

    def alter(name: str, value: str) -> None:
        names.append(name)
        admin.execute(_altered(admin, "SET {} = {}", name, value))

    yield alter
    for name in names:
        admin.execute(_altered(admin, "RESET {}", name))


def _altered(admin: "psycopg.Connection[Any]", change: str, name: str, value: str = "") -> sql.Composed:
    done = sql.SQL(change).format(sql.SQL(name), sql.Literal(value))
    return sql.SQL("ALTER DATABASE {} ").format(sql.Identifier(admin.info.dbname)) + done


@pytest.fixture
def commits_hang(admin: "psycopg.Connection[Any]") -> Iterator[None]:
    """Let each COMMIT wait for a standby that is not there."""
    admin.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby1'")
    admin.execute("SELECT pg_reload_conf()")
    yield
    admin.execute("ALTER SYSTEM RESET synchronous_standby_names")
    admin.execute("SELECT pg_reload_conf()")


@pytest.fixture
def plain_role(admin: "psycopg.Connection[Any]", monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let this process be a role that has the rights on the tables, and may see no other's sessions."""
    name = "health_plain"
    admin.execute("DROP ROLE IF EXISTS health_plain")
    admin.execute("CREATE ROLE health_plain LOGIN PASSWORD 'health-plain'")
    admin.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO health_plain")
    admin.execute("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO health_plain")
    monkeypatch.setitem(connections.settings["default"], "USER", name)
    monkeypatch.setitem(connections.settings["default"], "PASSWORD", "health-plain")
    yield name
    admin.execute("DROP OWNED BY health_plain")
    admin.execute("DROP ROLE health_plain")


@contextmanager
def silent_server() -> Iterator[int]:
    """Listen on a port, accept, and say nothing."""
    with socket.create_server((LOOPBACK, 0)) as server:
        yield int(server.getsockname()[1])


def broker_port() -> int:
    """Return the port of the tests' own Valkey."""
    return urlsplit(os.environ["CELERY_BROKER_URL"]).port or 0
