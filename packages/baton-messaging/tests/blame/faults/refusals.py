"""The database is there and does not do the work: what SQLSTATE classes 08, 25, 28, 3D, 53, 55 and 57 say."""

from collections.abc import Iterator

from baton_dev.blame.catalogue import EVERYBODY, Question, fault
from baton_dev.blame.effects import until_published, until_running
from baton_dev.blame.servers import Session, altered, end_all_other_sessions, locked, no_commits, session, used_up
from baton_dev.blame.stack import Stack
from baton_dev.servers.postgres import Postgres
from baton_messaging.diagnosis.triage.verdict import State
from django.db import connection

from tests.blame.samples import PLATFORM, SAMPLE, STUCK, met_by_the_relay, ordinary, refusal, sent, told_to

USER = "baton"


@fault(
    "a forgotten session locks the consumer's table",
    State.RUNNING,
    PLATFORM,
    says=("psql", "lock"),
    step="pg_terminate_backend",
    doctor="psql",
    victims=("sample",),
)
def forgotten_session(stack: Stack) -> Iterator[Question]:
    with locked("LOCK TABLE sample_effect IN EXCLUSIVE MODE"):
        question = ordinary()
        until_running(stack, question)
        yield question


@fault(
    "a migration holds the inbox",
    (State.UNKNOWN, State.QUEUED, State.RUNNING),
    PLATFORM,
    says="migrate",
    step="pg_terminate_backend",
    doctor="migrate",
    victims=EVERYBODY,
)
def migration(stack: Stack) -> Iterator[Question]:
    question = told_to("ok")
    until_published(stack, question)
    with locked("LOCK TABLE baton_inbox IN ACCESS EXCLUSIVE MODE", application="migrate"):
        yield question


@fault(
    "database commits nothing: its standby is away",
    (*STUCK, State.QUEUED),  # the relay may have sent it, and wait for its own commit
    PLATFORM,
    says="standby|SyncRep",
    step="synchronous_standby_names",
    doctor="standby|SyncRep",
    victims=EVERYBODY,
)
def commits_hang(stack: Stack) -> Iterator[Question]:
    yield from met_by_the_relay(stack, no_commits())


refusal(
    "database set read-only",
    "read.only",
    lambda _stack: altered(
        "ALTER DATABASE {} SET default_transaction_read_only = on",
        "ALTER DATABASE {} RESET default_transaction_read_only",
        name=connection.settings_dict["NAME"],
    ),
    step="default_transaction_read_only",
)
refusal(
    "role has a statement timeout of a millisecond",
    "statement_timeout|statement timeout",
    lambda _stack: altered(
        "ALTER ROLE {} SET statement_timeout = 1", "ALTER ROLE {} RESET statement_timeout", name=USER
    ),
    step="statement_timeout",
)


@fault(
    "database takes no connections",
    State.UNKNOWN,
    PLATFORM,
    says="not currently accepting|does not take|refuses",
    doctor="not currently accepting",
    victims=EVERYBODY,
)
def no_connections(stack: Stack) -> Iterator[Question]:
    change, undo = "ALTER DATABASE {} ALLOW_CONNECTIONS false", "ALTER DATABASE {} ALLOW_CONNECTIONS true"
    name = connection.settings_dict["NAME"]
    for question in met_by_the_relay(stack, altered(change, undo, name=name, database="postgres")):
        yield Question(question.id, "")


@fault("database renamed", State.UNKNOWN, PLATFORM, says="does not exist", doctor="does not exist", victims=EVERYBODY)
def renamed(stack: Stack) -> Iterator[Question]:
    question = sent(stack)
    name = connection.settings_dict["NAME"]
    closed = altered(
        "ALTER DATABASE {} ALLOW_CONNECTIONS false",
        "ALTER DATABASE {} ALLOW_CONNECTIONS true",
        name=name,
        database="postgres",
    )
    with closed as own:
        stack.wait(lambda: not _sessions_in(own, name), what="a database without sessions")
        own.execute(f'ALTER DATABASE "{name}" RENAME TO "{name}_old"')
        try:
            yield Question(question.id, "")
        finally:
            own.execute(f'ALTER DATABASE "{name}_old" RENAME TO "{name}"')


@fault("password of the role changed", State.UNKNOWN, PLATFORM, says="password", doctor="password", victims=EVERYBODY)
def password(stack: Stack) -> Iterator[Question]:
    assert isinstance(stack.database_server, Postgres)
    question = sent(stack)
    with session("admin") as own:
        secret = stack.database_server._password()
        own.execute("ALTER ROLE baton PASSWORD 'another'")
        end_all_other_sessions(own)
        try:
            yield Question(question.id, "")
        finally:
            own.execute(f"ALTER ROLE baton PASSWORD '{secret}'")


@fault("pg_hba.conf refuses", State.UNKNOWN, PLATFORM, says="pg_hba", doctor="pg_hba", victims=EVERYBODY)
def refused_by_hba(stack: Stack) -> Iterator[Question]:
    assert isinstance(stack.database_server, Postgres)
    question = sent(stack)
    path = stack.database_server.data / "pg_hba.conf"
    before = path.read_text()
    with session("admin") as own:
        path.write_text("host all all 127.0.0.1/32 reject\n")
        own.execute("SELECT pg_reload_conf()")
        end_all_other_sessions(own)
        try:
            yield Question(question.id, "")
        finally:
            path.write_text(before)
            own.execute("SELECT pg_reload_conf()")


@fault(
    "another application has all connections",
    State.UNKNOWN,
    PLATFORM,
    says="too many|connections",
    doctor="too many|connections",
    victims=EVERYBODY,
)
def too_many_connections(stack: Stack) -> Iterator[Question]:
    question = sent(stack)
    with used_up("reports"):
        yield Question(question.id, "")


@fault(
    "a column of Baton's is missing: a migration was not run",
    (State.UNKNOWN, State.QUEUED, State.NOBODY_CONSUMES),
    PLATFORM,
    says="column|migrat",
    step="migrat",
    doctor="column|migrat",
    victims=EVERYBODY,
)
def missing_column(stack: Stack) -> Iterator[Question]:
    with session("admin") as own:
        own.execute("ALTER TABLE baton_inbox RENAME COLUMN processed_at TO finished_at")
        try:
            question = ordinary()
            yield question
        finally:
            own.execute("ALTER TABLE baton_inbox RENAME COLUMN finished_at TO processed_at")


@fault("the consumer's table is gone", (State.DEAD, State.RETRYING), SAMPLE, says="sample_effect|UndefinedTable")
def missing_table(stack: Stack) -> Iterator[Question]:
    from baton_messaging.models import Attempt, DeadLetter

    with session("admin") as own:
        own.execute("ALTER TABLE sample_effect RENAME TO sample_effect_old")
        try:
            question = ordinary()
            stack.wait(lambda: Attempt.objects.exists() or DeadLetter.objects.exists(), what="a failure")
            yield question
        finally:
            own.execute("ALTER TABLE sample_effect_old RENAME TO sample_effect")


@fault(
    "a role without the rights: the relay's",
    (State.RELAY_STALLED, State.WAITING),
    PLATFORM,
    says=("limited", "lacks rights"),
    step="grant",
    doctor="lacks rights",
    victims=("relay",),
)
def no_rights(stack: Stack) -> Iterator[Question]:
    with session("admin") as own:
        own.execute("DROP ROLE IF EXISTS limited")
        own.execute("CREATE ROLE limited LOGIN PASSWORD 'limited'")
        stack.stop("relay")
        url = stack.environment()["DATABASE_URL"]
        place = url.rpartition("@")[2]
        question = ordinary()
        stack.launch("relay", environment={"DATABASE_URL": f"postgres://limited:limited@{place}"})
        denied = "permission denied"
        stack.wait(lambda: denied in stack.processes["relay"].output(), what=denied)
        try:
            yield question
        finally:
            stack.stop("relay")


def _sessions_in(own: Session, name: str) -> int:
    row = own.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = %s", [name]).fetchone()
    return int(row[0]) if row else 0
