"""The check of the database, on servers that are put into a bad state."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from baton_dev.testing.failover import standby
from baton_dev.testing.pgbouncer import left_behind
from baton_dev.testing.processes import url_of_test_database, wait_until
from baton_messaging.health.condition import Condition
from baton_messaging.health.server_codes import DIFFERENT, FULL, NOT_PERMITTED
from baton_messaging.models import HealthCheck
from django.db import connections

from tests.broker.tls import tls_in_front_of
from tests.health.conftest import Check, silent_server

pytestmark = pytest.mark.django_db(transaction=True)
Admin = psycopg.Connection[Any]


def sessions_of_checks(admin: Admin) -> int:
    row = admin.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'baton health check'"
    ).fetchone()
    return int(row[0]) if row else 0


@contextmanager
def other_session() -> Iterator[Admin]:
    with psycopg.connect(url_of_test_database(), application_name="psql of ann") as session:
        yield session
        session.rollback()


def test_committed_row_is_all_well_and_leaves_nothing_behind(check: Check, admin: Admin) -> None:
    health = check("database")

    assert (health.condition, health.said) == (Condition.OK, "")
    assert health.facts["commit_seconds"] > 0
    assert health.facts["identity"]["system_identifier"].isdigit()
    assert health.facts["clock_offset_seconds"] == 0
    assert "not_told" not in health.facts
    assert not HealthCheck.objects.exists()
    wait_until(lambda: not sessions_of_checks(admin), what="the end of its sessions")


@pytest.mark.usefixtures("commits_hang")
def test_commit_that_waits_for_a_standby_is_found_out_and_ended(check: Check, admin: Admin) -> None:
    started = time.monotonic()
    health = check("database", deadline_seconds=3)

    assert time.monotonic() - started < 5
    assert health.condition is Condition.REFUSES
    assert "to COMMIT: it waits for IPC/SyncRep" in health.said
    assert "synchronous_standby_names is 'standby1', connected: none" in health.said
    assert health.facts["replication"]["sessions_waiting"] >= 1
    wait_until(lambda: not sessions_of_checks(admin), what="the end of its sessions")
    assert admin.execute("SELECT FROM baton_health_check").rowcount == 0


def test_standby_takes_no_writes(check: Check) -> None:
    with standby():
        health = check("database")

    assert health.condition is Condition.READ_ONLY
    assert health.said == "cannot execute INSERT in a read-only transaction (25006)"
    assert health.facts["server"]["is_read_only"] is True
    assert health.facts["server"]["is_in_recovery"] is False
    assert [one["name"] for one in health.facts["settings"]] == ["default_transaction_read_only"]


def test_lock_on_a_table_of_ours_is_not_waited_for_and_its_holder_named(check: Check) -> None:
    with other_session() as session:
        session.execute("LOCK TABLE baton_outbox IN ACCESS EXCLUSIVE MODE")
        health = check("database")

    assert health.condition is Condition.REFUSES
    assert health.said == "canceling statement due to lock timeout (55P03)"
    (lock,) = health.facts["table_locks"]
    assert (lock["table"], lock["mode"], lock["application"]) == ("baton_outbox", "AccessExclusiveLock", "psql of ann")


def test_session_that_blocks_another_is_told_with_its_statement_and_without_values(check: Check, admin: Admin) -> None:
    with other_session() as holder, other_session() as waiter, ThreadPoolExecutor() as threads:
        holder.execute("SELECT pg_advisory_xact_lock(4711), 'ann@example.com'")
        waiting = threads.submit(waiter.execute, "SELECT pg_advisory_xact_lock(4711)")
        wait_until(lambda: admin.execute("SELECT FROM pg_locks WHERE NOT granted").rowcount, what="a waiter")
        health = check("database")
        holder_pid, waiter_pid = holder.info.backend_pid, waiter.info.backend_pid
        holder.rollback()
        waiting.result()

    assert health.condition is Condition.OK  # one consumer's row may be held; the database takes commits
    (blocker,) = health.facts["blockers"]
    assert (blocker["pid"], blocker["blocks"]) == (holder_pid, [waiter_pid])
    assert (blocker["user"], blocker["state"]) == ("baton", "idle in transaction")
    assert blocker["statement"] == "SELECT pg_advisory_xact_lock(?), ?"


@pytest.mark.usefixtures("plain_role")
def test_role_that_sees_no_statements_still_learns_who_blocks(check: Check) -> None:
    with other_session() as session:
        session.execute("LOCK TABLE baton_outbox IN ACCESS EXCLUSIVE MODE")
        pid = session.info.backend_pid
        health = check("database")

    assert health.facts["server"]["sees_all_sessions"] is False
    (lock,) = health.facts["table_locks"]
    assert (lock["pid"], lock["user"], lock["application"]) == (pid, "baton", "psql of ann")
    assert lock["statement"] == "<insufficient privilege>"


@pytest.mark.usefixtures("plain_role")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (
            "REVOKE INSERT ON baton_health_check FROM health_plain",
            (NOT_PERMITTED, "table baton_health_check (42501)"),
        ),
        (
            "REVOKE SELECT ON baton_inbox FROM health_plain",
            (NOT_PERMITTED, "denied for table baton_inbox (42501)"),
        ),
        (
            "ALTER ROLE health_plain SET search_path = elsewhere",
            (DIFFERENT, 'relation "baton_health_check" does not exist'),
        ),
        ("ALTER ROLE health_plain NOLOGIN", (NOT_PERMITTED, "is not permitted to log in")),
        (
            "ALTER ROLE health_plain CONNECTION LIMIT 0",
            (FULL, 'too many connections for role "health_plain"'),
        ),
        ("ALTER ROLE health_plain PASSWORD 'another'", (NOT_PERMITTED, "password authentication failed")),
    ],
)
def test_what_the_role_may_not_do_is_said_in_the_servers_words(
    check: Check, admin: Admin, change: LiteralString, found: tuple[Condition, str]
) -> None:
    admin.execute(change)

    health = check("database")

    assert health.condition is found[0]
    assert found[1] in health.said
    assert "health-plain" not in str(health.as_dict())


def test_column_that_a_migration_must_still_add_is_named(check: Check, admin: Admin) -> None:
    admin.execute("ALTER TABLE baton_outbox RENAME COLUMN correlation_id TO of_another_release")
    try:
        health = check("database")
    finally:
        admin.execute("ALTER TABLE baton_outbox RENAME COLUMN of_another_release TO correlation_id")

    assert (health.condition, health.said) == (Condition.DIFFERENT, 'column "correlation_id" does not exist (42703)')


def test_fact_that_the_role_may_not_ask_for_costs_no_other(check: Check, admin: Admin, plain_role: str) -> None:
    admin.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    try:
        health = check("database")
    finally:
        admin.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")

    assert health.condition is Condition.OK
    assert health.facts["not_told"] == {"identity": "permission denied for function pg_control_system"}
    assert health.facts["server"]["user"] == plain_role
    assert health.facts["xmin_holders"] == []


def test_time_outs_set_on_the_database_are_told(check: Check, set_for_database: Callable[[str, str], None]) -> None:
    set_for_database("statement_timeout", "90s")

    health = check("database")

    assert {"user": None, "name": "statement_timeout", "value": "90s"}.items() <= health.facts["settings"][0].items()
    assert health.facts["settings_in_force"] == [{"name": "statement_timeout", "value": "90000", "source": None}]


def test_pool_in_between_is_noticed_and_gets_no_time_limit_of_ours(check: Check, pooled: str) -> None:
    health = check("database")

    assert (health.condition, health.said) == (Condition.OK, "")
    assert health.facts["is_pooled"] is True
    assert left_behind(pooled, "statement_timeout") == {"0"}


def test_exhausted_pool_is_told_from_an_exhausted_database(check: Check, pooled: str) -> None:
    clients = [psycopg.connect(pooled) for _ in range(3)]
    try:
        for client in clients:
            client.execute("SELECT 1")  # holds a connection of the pool until it ends its transaction
        health = check("database", deadline_seconds=3)
    finally:
        for client in clients:
            client.close()

    assert health.condition is Condition.REFUSES
    assert health.said.startswith("PgBouncer: no answer within")
    assert health.facts["pooler"] == "PgBouncer"


def test_database_that_is_not_there_is_away(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.settings["default"], "PORT", 1)

    health = check("database")

    assert health.condition is Condition.AWAY
    assert "Connection refused" in health.said


def test_database_that_says_nothing_is_not_waited_for(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    with silent_server() as port:
        monkeypatch.setitem(connections.settings["default"], "PORT", port)
        started = time.monotonic()
        health = check("database", deadline_seconds=3)

        assert time.monotonic() - started < 5
    assert health.condition is Condition.AWAY
    assert health.said.endswith(": no connection")


@contextmanager
def verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, days: int) -> Iterator[None]:
    """Let the server speak TLS with a certificate that ends in so many days, and this process verify it."""
    settings = connections.settings["default"]
    with tls_in_front_of(int(settings["PORT"]), tmp_path, days=days, is_postgresql=True) as (port, certificate):
        options = {**settings["OPTIONS"], "sslmode": "verify-full", "sslrootcert": str(certificate)}
        monkeypatch.setitem(settings, "OPTIONS", options)
        monkeypatch.setitem(settings, "PORT", port)
        yield


def test_days_that_the_servers_certificate_has_left_are_told(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with verified(tmp_path, monkeypatch, days=3):
        assert check("database").condition is Condition.OK
        assert 2 < check("network").facts["certificates"]["the database"]["days_left"] <= 3


def test_certificate_of_the_server_that_has_ended_is_said_to_have(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with verified(tmp_path, monkeypatch, days=-3):
        health = check("database")
        assert check("network").condition is Condition.OK  # one cause, told once

    assert health.condition is Condition.AWAY
    assert "certificate has expired" in health.said


def test_server_without_tls_that_our_settings_demand_is_told(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {**connections.settings["default"]["OPTIONS"], "sslmode": "require"}
    monkeypatch.setitem(connections.settings["default"], "OPTIONS", options)

    health = check("database")

    assert health.condition is DIFFERENT
    assert "server does not support SSL" in health.said


@pytest.fixture
def small_disk(admin: Admin) -> Iterator[Path]:
    """Let what the database's sessions write beside their tables go to a disk of a quarter of a megabyte."""
    with tempfile.TemporaryDirectory() as folder:
        disk = Path(folder)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], check=False, capture_output=True
        )
        if mounted.returncode:
            pytest.skip("a file system can be mounted by root only")
        try:
            disk.chmod(0o755)
            place = disk / "space"
            place.mkdir()
            os.chown(place, Path(_value(admin, "SHOW data_directory")).stat().st_uid, -1)
            name = f"small_{admin.info.dbname}"
            whose = f'DATABASE "{admin.info.dbname}"'
            admin.execute(f"CREATE TABLESPACE {name} LOCATION '{place}'".encode())
            admin.execute(f"ALTER {whose} SET temp_tablespaces = '{name}'".encode())
            yield disk
            admin.execute(f"ALTER {whose} RESET temp_tablespaces".encode())
            admin.execute(f"DROP TABLESPACE {name}".encode())
        finally:
            subprocess.run(["umount", folder], check=True)


def _value(admin: Admin, statement: LiteralString) -> str:
    row = admin.execute(statement).fetchone()
    return str(row[0]) if row else ""


def test_disk_that_is_full_is_found_out_though_a_row_has_room(check: Check, small_disk: Path) -> None:
    assert check("database").condition is Condition.OK

    (small_disk / "fills-it").write_bytes(b"x" * 230_000)
    health = check("database")

    assert health.condition is FULL
    assert health.said.endswith("No space left on device (53100)")
