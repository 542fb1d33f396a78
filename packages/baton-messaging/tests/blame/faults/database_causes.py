"""What somebody did to the database: disk, triggers, rights, search path, time-outs, prepared transactions.

A full disk is what the server says of it, by a trigger: all that this machine has could not be filled. The suite's role
is a superuser, whom no right is denied: where rights count, the worker has a role of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, LiteralString

from baton_dev.blame.catalogue import EVERYBODY, Question, fault
from baton_dev.blame.effects import until_running
from baton_dev.blame.servers import Session, altered, end_all_other_sessions, session
from baton_dev.blame.stack import Stack
from baton_messaging.database.roles import grants
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Attempt, DeadLetter
from django.db import connection
from psycopg import sql

from tests.blame.samples import PLATFORM, STUCK, met_by_the_relay, ordinary, otherwise, refusal, sent, told_to

FULL: Final = """
    BEGIN RAISE EXCEPTION USING ERRCODE = '53100',
        MESSAGE = 'could not extend file "base/16384/16402": No space left on device', HINT = 'Check free disk space.';
    END
"""
REFUSED: Final = "BEGIN RAISE EXCEPTION 'closed for stocktaking'; END"
SWALLOWED: Final = "BEGIN RETURN NULL; END"
#: Of a message whose rows are swallowed it can be seen that it left, or that it runs and runs.
GONE: Final = (State.LOST, State.UNKNOWN, State.ELSEWHERE, State.QUEUED, State.RUNNING)


@contextmanager
def guarded(body: LiteralString, *tables: str, events: LiteralString = "INSERT") -> Iterator[None]:
    """Let a trigger execute this before each row of the tables."""
    with session("admin") as own:
        own.execute(sql.SQL("CREATE FUNCTION stocktaking() RETURNS trigger LANGUAGE plpgsql AS {}").format(body))
        for table in tables:
            name = sql.Identifier(table)
            create = f"CREATE TRIGGER guard BEFORE {events} ON {{}} FOR EACH ROW EXECUTE FUNCTION stocktaking()"
            own.execute(sql.SQL(create).format(name))
        try:
            yield
        finally:
            own.execute("DROP FUNCTION stocktaking() CASCADE")


@contextmanager
def clerk(stack: Stack) -> Iterator[Session]:
    """Let the worker of the samples connect as a role that owns nothing; yield a session of the owner's."""
    with session("admin") as own:
        own.execute("DROP ROLE IF EXISTS clerk")
        own.execute("CREATE ROLE clerk LOGIN PASSWORD 'clerk'")
        for statement in grants("clerk"):
            own.execute(statement.encode())
        place = stack.environment()["DATABASE_URL"].rpartition("@")[2]
        try:
            with otherwise(stack, "sample", DATABASE_URL=f"postgres://clerk:clerk@{place}"):
                yield own
        finally:
            own.execute("DROP OWNED BY clerk")
            own.execute("DROP ROLE clerk")


def until_failed(stack: Stack) -> None:
    stack.wait(lambda: Attempt.objects.exists() or DeadLetter.objects.exists(), what="a failure")


refusal(
    "disk of the database is full",
    "No space left",
    lambda _stack: guarded(FULL, "baton_outbox", "baton_inbox", "baton_health_check", events="INSERT OR UPDATE"),
    step="room on the server",
)


@fault(
    "disk of the database is full for the consumer's rows",
    (State.RETRYING, State.HELD, State.DEAD),
    PLATFORM,
    says="No space left",
    step="room on the server",
)
def full_for_the_consumer(stack: Stack) -> Iterator[Question]:
    with guarded(FULL, "sample_effect"):
        question = ordinary()
        until_failed(stack)
        yield question


@fault(
    "a trigger refuses the consumer's rows",
    (State.DEAD, State.RETRYING),
    PLATFORM,
    says=("guard", "stocktaking", "sample_effect"),
    step="DISABLE TRIGGER",
)
def refused_by_a_trigger(stack: Stack) -> Iterator[Question]:
    with guarded(REFUSED, "sample_effect"):
        question = ordinary()
        until_failed(stack)
        yield question


@fault(
    "a trigger swallows the inbox's rows",
    GONE,
    PLATFORM,
    says=("guard", "baton_inbox"),
    step="DISABLE TRIGGER",
    doctor="guard",
)
def swallowed_by_a_trigger(stack: Stack) -> Iterator[Question]:
    with guarded(SWALLOWED, "baton_inbox"):
        yield sent(stack)


@fault(
    "worker's role lost its right to the consumer's table",
    (State.DEAD, State.RETRYING),
    PLATFORM,
    says=("clerk", "INSERT on sample_effect"),
    step="GRANT INSERT ON sample_effect TO .{0,3}clerk",
)
def no_right_to_the_table(stack: Stack) -> Iterator[Question]:
    with clerk(stack) as own:
        own.execute("REVOKE INSERT ON sample_effect FROM clerk")
        question = ordinary()
        until_failed(stack)
        yield question


@fault(
    "worker's role lost its right to the inbox",
    (State.DEAD, State.RETRYING, State.QUEUED, State.RUNNING, State.LOST),
    PLATFORM,
    says=("clerk", "INSERT on baton_inbox"),
    step="GRANT INSERT ON baton_inbox TO .{0,3}clerk",
    doctor="INSERT on baton_inbox",
)
def no_right_to_the_inbox(stack: Stack) -> Iterator[Question]:
    with clerk(stack) as own:
        own.execute("REVOKE INSERT ON baton_inbox FROM clerk")
        yield sent(stack)


@fault(
    "a policy hides the consumer's rows",
    (State.DEAD, State.RETRYING),
    PLATFORM,
    says=("policy", "sample_effect"),
    step="pg_policies",
)
def hidden_by_a_policy(stack: Stack) -> Iterator[Question]:
    with clerk(stack) as own:
        own.execute("ALTER TABLE sample_effect ENABLE ROW LEVEL SECURITY")
        try:
            question = ordinary()
            until_failed(stack)
            yield question
        finally:
            own.execute("ALTER TABLE sample_effect DISABLE ROW LEVEL SECURITY")


@fault(
    "a policy hides the row that the consumer asks for",
    (State.DEAD, State.RETRYING),
    PLATFORM,
    says=("row.level security", "sample_effect"),
    step="pg_policies",
)
def hidden_row(stack: Stack) -> Iterator[Question]:
    with clerk(stack) as own:
        own.execute("ALTER TABLE sample_effect ENABLE ROW LEVEL SECURITY")
        try:
            question = told_to("row_gone")
            until_failed(stack)
            yield question
        finally:
            own.execute("ALTER TABLE sample_effect DISABLE ROW LEVEL SECURITY")


@fault(
    "search path of the database leads elsewhere",
    State.UNKNOWN,
    PLATFORM,
    says="search_path",
    step="RESET search_path",
    doctor="search_path",
    victims=EVERYBODY,
)
def wrong_search_path(stack: Stack) -> Iterator[Question]:
    question = sent(stack)
    name = connection.settings_dict["NAME"]
    with altered("ALTER DATABASE {} SET search_path = elsewhere", "ALTER DATABASE {} RESET search_path", name=name):
        yield Question(question.id, "")


@fault(
    "statement timeout of a millisecond for the whole server",
    STUCK,
    PLATFORM,
    says="statement_timeout|statement timeout",
    step="ALTER SYSTEM RESET statement_timeout",
    doctor="statement_timeout|statement timeout",
    victims=EVERYBODY,
)
def statement_timeout(stack: Stack) -> Iterator[Question]:
    yield from met_by_the_relay(stack, _set_for_the_server("statement_timeout", "1"))


@fault(
    "a prepared transaction that nobody ended locks the consumer's table",
    State.RUNNING,
    PLATFORM,
    says=("forgotten", "lock"),
    step="ROLLBACK PREPARED .{0,6}forgotten",
    doctor="forgotten",
    victims=("sample",),
)
def prepared_transaction(stack: Stack) -> Iterator[Question]:
    server = stack.database_server
    assert server
    with session("admin") as own:
        own.execute("ALTER SYSTEM SET max_prepared_transactions = 4")
    connection.close()
    server.stop()
    server.start()
    with session("psql") as own:
        own.execute("BEGIN; LOCK TABLE sample_effect IN EXCLUSIVE MODE; PREPARE TRANSACTION 'forgotten'")
        stack.wait(lambda: stack.lives("sample") and stack.lives("relay"), what="a system with its database")
        try:
            question = ordinary()
            until_running(stack, question)
            yield question
        finally:
            own.execute("ROLLBACK PREPARED 'forgotten'")


@contextmanager
def _set_for_the_server(name: LiteralString, value: str) -> Iterator[None]:
    with session("admin") as own:
        own.execute("SET statement_timeout = 0")
        own.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.SQL(name), sql.Literal(value)))
        own.execute("SELECT pg_reload_conf()")
        try:
            end_all_other_sessions(own)
            yield
        finally:
            own.execute(sql.SQL("ALTER SYSTEM RESET {}").format(sql.SQL(name)))
            own.execute("SELECT pg_reload_conf()")
            end_all_other_sessions(own)
