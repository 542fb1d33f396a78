"""What keeps a database from its work is told with numbers and names, and what is told to be done mends it."""

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any, LiteralString

import psycopg
import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.diagnosis.servers.diagnose import diagnose
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status
from baton_messaging.health.resource import Kind
from django.db import connection

from tests.health.conftest import (  # noqa: F401 - fixtures
    Check,
    admin,
    check,
    plain_role,
)

pytestmark = pytest.mark.django_db(transaction=True)
Admin = psycopg.Connection[Any]


def statements_of(command: str) -> list[str]:
    words = shlex.split(command)
    return [words[number + 1] for number, word in enumerate(words) if word == "-c"]


def cause_of(health: Health) -> Diagnosis:
    return next(one for one in diagnose(health) if one.stops_work and one.status is Status.FINDING)


@pytest.mark.usefixtures("plain_role")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("REVOKE INSERT ON baton_inbox FROM health_plain", "role health_plain lacks rights: INSERT on baton_inbox"),
        (
            "REVOKE ALL ON baton_outbox FROM health_plain",
            "role health_plain lacks rights: DELETE, INSERT, SELECT, UPDATE on baton_outbox",
        ),
        ("ALTER ROLE health_plain SET search_path = elsewhere", "in schema public, and search_path is elsewhere"),
        ("ALTER ROLE health_plain NOLOGIN", "is not permitted to log in"),
        ("ALTER ROLE health_plain CONNECTION LIMIT 0", "the database's role has no connection left"),
        ("ALTER ROLE health_plain SET statement_timeout = '20ms'", "statement_timeout = 20ms, set for role"),
        ("ALTER ROLE health_plain SET lock_timeout = '1ms'", "lock_timeout = 1ms, set for role health_plain"),
        ("ALTER ROLE health_plain SET default_transaction_read_only = on", "the database takes no writes"),
    ],
)
def test_what_was_done_to_the_role_is_told_and_the_command_undoes_it(
    check: Check,  # noqa: F811
    admin: Admin,  # noqa: F811
    change: LiteralString,
    found: str,
) -> None:
    admin.execute(change)

    cause = cause_of(check("database"))

    assert found in str(cause.found)
    assert (cause.about.kind, cause.confidence) == (Kind.DATABASE, Confidence.SURE)
    assert str(cause.owner) == "Platform team <platform@example.com>"
    for statement in statements_of(cause.command):
        admin.execute(statement.encode())
    again = check("database")
    assert again.condition is Condition.OK
    assert not [one for one in diagnose(again) if one.status is Status.FINDING]


@pytest.fixture
def guarded(admin: Admin) -> Iterator[Callable[[LiteralString], None]]:  # noqa: F811
    """Put something before a table of ours, and take it off at the end."""
    admin.execute("CREATE OR REPLACE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")

    def put(statement: LiteralString) -> None:
        admin.execute(statement)

    yield put
    admin.execute("DROP FUNCTION swallow() CASCADE")
    admin.execute("DROP RULE IF EXISTS quiet ON baton_attempt")
    admin.execute("ALTER TABLE baton_heartbeat DISABLE ROW LEVEL SECURITY")


@pytest.mark.parametrize(
    ("guard", "found"),
    [
        (
            "CREATE TRIGGER quiet BEFORE INSERT ON baton_inbox FOR EACH ROW EXECUTE FUNCTION swallow()",
            "trigger quiet (swallow) on baton_inbox, which no migration has made",
        ),
        ("CREATE RULE quiet AS ON INSERT TO baton_attempt DO INSTEAD NOTHING", "rule quiet on baton_attempt"),
        ("ALTER TABLE baton_heartbeat ENABLE ROW LEVEL SECURITY", "row level security (no policy) on baton_heartbeat"),
    ],
)
@pytest.mark.usefixtures("plain_role")
def test_what_may_swallow_our_rows_is_likely_to_blame_and_the_command_takes_it_away(
    check: Check,  # noqa: F811
    admin: Admin,  # noqa: F811
    guarded: Callable[[LiteralString], None],
    guard: LiteralString,
    found: str,
) -> None:
    guarded(guard)

    cause = cause_of(check("database"))

    assert found in str(cause.found)
    assert cause.confidence is Confidence.LIKELY
    for statement in statements_of(cause.command):
        admin.execute(statement.encode())
    assert not [one for one in diagnose(check("database")) if one.status is Status.FINDING]


@pytest.mark.parametrize(("body", "is_told"), [("RETURN NULL", True), ("NEW.consumer := 'x'; RETURN NEW", False)])
def test_trigger_that_swallows_an_apps_rows_is_told_and_one_that_writes_a_column_is_not(
    check: Check,  # noqa: F811
    admin: Admin,  # noqa: F811
    body: str,
    is_told: bool,
) -> None:
    function = f"CREATE FUNCTION of_dba() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {body}; END$$"
    admin.execute(function.encode())
    admin.execute("CREATE TRIGGER quiet BEFORE INSERT ON sample_effect FOR EACH ROW EXECUTE FUNCTION of_dba()")
    try:
        told = [one for one in diagnose(check("database")) if one.status is Status.FINDING]
    finally:
        admin.execute("DROP FUNCTION of_dba() CASCADE")

    assert [str(one.about) for one in told] == (["setting table sample_effect"] if is_told else [])
    assert not any(one.stops_work for one in told)


def test_role_of_another_process_that_lacks_a_right_is_named_with_what_it_runs(check: Check, admin: Admin) -> None:  # noqa: F811
    admin.execute("DROP ROLE IF EXISTS health_relay")
    admin.execute("CREATE ROLE health_relay LOGIN PASSWORD 'health-relay'")
    settings = connection.settings_dict
    relay = psycopg.connect(
        host=settings["HOST"],
        port=settings["PORT"],
        dbname=settings["NAME"],
        user="health_relay",
        password="health-relay",
        application_name="baton relay relay@vm 7",
    )
    try:
        cause = cause_of(check("database"))
    finally:
        relay.close()
        wait_until(
            lambda: not admin.execute("SELECT FROM pg_stat_activity WHERE usename = 'health_relay'").rowcount,
            what="the end of its session",
        )
        admin.execute("DROP ROLE health_relay")

    assert str(cause.about) == "role relay"
    assert "role health_relay lacks rights" in str(cause.found)
    assert cause.command == "python manage.py baton_grants health_relay --apply"


@pytest.mark.parametrize(
    ("condition", "said", "found", "remedy", "command"),
    [
        (
            Condition.NOT_PERMITTED,
            'FATAL:  no pg_hba.conf entry for host "10.1.2.3", user "app", database "shop", no encryption',
            "lets no connection of this kind in",
            '"host shop app 10.1.2.3/32 scram-sha-256"',
            "",
        ),
        (
            Condition.DIFFERENT,
            'FATAL:  database "shop" does not exist',
            "there is no such database",
            "database shop its name back",
            "SELECT datname FROM pg_database",
        ),
        (
            Condition.DIFFERENT,
            "server does not support SSL, but SSL was required",
            "speaks no TLS",
            "lower sslmode",
            "SHOW ssl",
        ),
        (
            Condition.AWAY,
            "SSL error: certificate verify failed",
            "the TLS of the database fails",
            "Renew the server's certificate",
            "openssl s_client",
        ),
        (
            Condition.FULL,
            'could not extend file "base/5/16384": No space left on device (53100)',
            "the disk of the database is full",
            "slot old (2.0 GiB)",
            "SELECT pg_drop_replication_slot('old')",
        ),
        (
            Condition.READ_ONLY,
            'could not open file "base/5/16384": Read-only file system (42501)',
            "the disk of the database is read-only",
            "mount it writable",
            "SHOW data_directory",
        ),
        (
            Condition.FULL,
            'FATAL:  too many connections for database "shop"',
            "the database has no connection left",
            "Raise the limit of database shop",
            'ALTER DATABASE "shop" CONNECTION LIMIT -1',
        ),
        (
            Condition.FULL,
            "FATAL:  sorry, too many clients already",
            "the database has no connection left",
            "app (psql, idle): 97",
            "pg_stat_activity",
        ),
        (
            Condition.REFUSES,
            "FATAL:  the database system is starting up",
            "the database is starting",
            "Wait",
            "pg_isready",
        ),
    ],
)
def test_words_of_the_server_decide_what_is_wrong_and_what_mends_it(
    condition: Condition, said: str, found: str, remedy: str, command: str
) -> None:
    facts = {
        "slots": [{"name": "old", "is_active": False, "wal_status": "extended", "kept_bytes": 2**31}],
        "connections_by": [{"user": "app", "application": "psql", "state": "idle", "count": 97}],
    }

    told = cause_of(Health("database", condition, said, facts=facts))

    assert found in str(told.found)
    assert said in str(told.found)
    assert remedy in str(told.remedy)
    assert command in " ".join(shlex.split(told.command))
    assert not re.search(r"\{\w+\}", f"{told.remedy} {told.command}")


@pytest.mark.parametrize(
    ("said", "found", "remedy", "command"),
    [
        ("query_wait_timeout", "pool is exhausted", "raise default_pool_size", "SHOW POOLS"),
        ("no more connections allowed (max_client_conn)", "lets nobody through", "raise max_client_conn", "CLIENTS"),
        ("server login has been failing", "lets nobody through", "does not reach the database", "SHOW SERVERS"),
        ("pgbouncer is paused", "lets nobody through", "let it go on", "RESUME"),
        ('no such database: "shop"', "lets nobody through", "not set up for these settings", "SHOW DATABASES"),
    ],
)
def test_pgbouncers_own_trouble_is_told_from_the_databases(said: str, found: str, remedy: str, command: str) -> None:
    told = cause_of(Health("database", Condition.REFUSES, f"PgBouncer: {said}", facts={"pooler": "PgBouncer"}))

    assert found in str(told.found)
    assert remedy in str(told.remedy)
    assert command in told.command


def test_slot_that_nobody_reads_is_told_before_the_disk_is_full() -> None:
    slots = [
        {"name": "old", "is_active": False, "wal_status": "extended", "kept_bytes": 3 * 2**30},
        {"name": "read", "is_active": True, "wal_status": "reserved", "kept_bytes": 5 * 2**30},
    ]

    (told,) = (
        one for one in diagnose(Health("database", Condition.OK, facts={"slots": slots})) if one.status is not Status.OK
    )

    assert str(told.found) == "nobody reads slot old: it keeps 3.0 GiB of the log (extended)"
    assert not told.stops_work
    assert statements_of(told.command) == ["SELECT pg_drop_replication_slot('old')"]
