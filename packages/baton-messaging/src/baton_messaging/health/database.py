"""The check of the database commits a row, as all work does, and says what keeps a commit from coming back.

A server may answer every question and take no commit: one that waits for a standby which is not there, a disk that is
full, a lock on our tables. So a row is written and deleted in one transaction, on a connection of its own whose
statements and locks have time-outs. A COMMIT has none: one that hangs is looked at by a second connection, and then
cancelled, which leaves it committed here.

Of the tables that a message needs, each column is asked for, too: what a migration or a grant has left out, or a wrong
schema, is said in the server's words.
"""

import contextlib
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

import psycopg
from django.db import connection as default
from django.db import models

from baton_messaging.database.deadline import LOCK_SECONDS, Deadline, milliseconds
from baton_messaging.database.dedicated_connection import unopened_connection
from baton_messaging.health import postgresql_tls
from baton_messaging.health.answers import NoAnswer, answers_within
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.database_facts import read_facts, wait_of
from baton_messaging.health.refusals import of_server
from baton_messaging.health.registry import health_check
from baton_messaging.models import Attempt, Heartbeat, OutboxMessage, ProcessedMessage

#: Of the deadline, kept to look at a commit that hangs, from another connection.
_LOOK_SECONDS: Final = 0.6
_MAX_PID: Final = 2**22  # of Linux, on 64 bits
_APPLICATION: Final = "baton health check"
#: A row finds room in a page that is there already, also on a full disk. What has no room in memory takes new space.
_NEW_SPACE: Final = "SET LOCAL work_mem = '64kB'; SELECT count(*) FROM generate_series(1, 5000)"
_NEEDED: Final[tuple[type[models.Model], ...]] = (OutboxMessage, ProcessedMessage, Attempt, Heartbeat)


@health_check("database")
def check_database(deadline: Deadline) -> Health:
    """Commit a row; say who waits for whom, and what is set. Takes three round trips and a dozen of small questions."""
    work = _Work()
    try:
        answer = answers_within(max(0.1, deadline.seconds_left - _LOOK_SECONDS), {"commit": work.do})["commit"]
        if isinstance(answer.error, NoAnswer):
            return _looked_at(work, deadline, answer.error)
        facts = {**work.facts(), **(_facts_of(work, deadline) if work.connection else {})}
        if answer.error is None:
            return _health(Condition.OK, "", facts)
        refusal = of_server(answer.error)
        said = f"{refusal.said}{_fault_of_certificate(refusal.said, deadline)}"
        return _health(refusal.condition, said, facts, pooler=refusal.by)
    finally:
        work.end()


def _fault_of_certificate(said: str, deadline: Deadline) -> str:
    """Return what libpq does not tell of a certificate that it refuses: that it has ended, or is another host's."""
    if "certificate verify failed" not in said or not postgresql_tls.is_verified():
        return ""
    error = answers_within(deadline.seconds_left, {"tls": postgresql_tls.certificate})["tls"].error
    return f" ({of_server(error).said})" if error else ""


@dataclass
class _Work:
    """One transaction, step by step, so that whoever waits for it knows where it hangs."""

    connection: "psycopg.Connection[Any] | None" = None
    pid: int = 0
    step: str = "connect"
    commit_seconds: float | None = None
    is_over: bool = False
    is_given_up: bool = False

    def do(self, deadline: Deadline) -> None:
        own = unopened_connection(application_name=_APPLICATION)
        try:
            own.connect()
            self.connection = own.connection
            self._commit(own.connection, deadline)
            self.step = "read"
            _ask_for_columns(own.connection, deadline)
            self.step = "done"
        finally:
            self.is_over = True
            if self.connection is None:
                own.close()  # the server went away after it had let us in
            if self.is_given_up:
                self.end()

    def _commit(self, raw: "psycopg.Connection[Any]", deadline: Deadline) -> None:
        self.step = "write"
        limit = deadline.seconds_left
        raw.autocommit = True
        with raw.cursor() as cursor:
            cursor.execute("BEGIN")
            try:
                cursor.execute(f"SET LOCAL statement_timeout = '{milliseconds(limit)}'")
                cursor.execute(f"SET LOCAL lock_timeout = '{milliseconds(min(LOCK_SECONDS, limit))}'")
                cursor.execute("INSERT INTO baton_health_check DEFAULT VALUES RETURNING id, pg_backend_pid()")
                row, self.pid = cursor.fetchone() or (0, 0)
                cursor.execute("DELETE FROM baton_health_check WHERE id = %s", [row])
                cursor.execute(_NEW_SPACE)
            except psycopg.Error:
                with contextlib.suppress(psycopg.Error):
                    cursor.execute("ROLLBACK")
                raise
            self.step = "COMMIT"
            started = monotonic()
            cursor.execute("COMMIT")
            self.commit_seconds = monotonic() - started

    def facts(self) -> dict[str, Any]:
        """Return what the transaction itself has shown."""
        raw = self.connection
        if raw is None or raw.closed:
            return {}
        return {"commit_seconds": self.commit_seconds, "is_pooled": _is_pools(raw.info.backend_pid, self.pid)}

    def end(self) -> None:
        """Close the connection, unless its own thread still waits with it, and will."""
        self.is_given_up = True
        if self.is_over and self.connection is not None:
            with contextlib.suppress(Exception):
                self.connection.close()


def _is_pools(pid_of_client: int, pid: int) -> bool:
    """Tell a pool by the process id that it gives to clients: a number by chance, which Linux gives to no process."""
    return pid not in (0, pid_of_client) or not 0 < pid_of_client <= _MAX_PID


def _ask_for_columns(raw: "psycopg.Connection[Any]", deadline: Deadline) -> None:
    """Ask each table that a message needs for the columns that this release knows, and for no row."""
    quote = default.ops.quote_name
    statements = [
        f"SELECT {', '.join(quote(str(field.column)) for field in model._meta.concrete_fields)} "  # noqa: S608 - our own names
        f"FROM {quote(model._meta.db_table)} LIMIT 0"
        for model in _NEEDED
    ]
    limit = deadline.seconds_left
    with raw.transaction(), raw.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{milliseconds(limit)}'")
        cursor.execute(f"SET LOCAL lock_timeout = '{milliseconds(min(LOCK_SECONDS, limit))}'")
        cursor.execute("; ".join(statements))


def _looked_at(work: _Work, deadline: Deadline, late: NoAnswer) -> Health:
    """Say what a transaction that does not end waits for, and end it."""
    step = work.step  # it goes on as soon as it is cancelled
    if step == "connect":
        return _health(Condition.AWAY, f"{late}: no connection", {})
    if not work.pid and work.facts().get("is_pooled"):  # a server begins a transaction at once
        said = f"PgBouncer: {late}: it has taken the connection, and has none to the server to give"
        return _health(Condition.REFUSES, said, work.facts(), pooler="PgBouncer")
    looker = answers_within(deadline.seconds_left, {"look": lambda by: _look(work, by)})["look"]
    _cancel(work, deadline)
    if looker.value is None:
        return _health(Condition.AWAY, f"{late} to {step}, and none to a second connection", work.facts())
    waits_for, facts = looker.value
    facts = {**work.facts(), **facts}
    if waits_for.startswith("Client/"):  # the server waits for us: this machine has no time to ask
        return _health(Condition.NOT_KNOWN, f"{late} to {step}: the server waits for the one who asks", facts)
    if not waits_for:  # it computes, or has no processor: that it is late accuses nobody
        return _health(Condition.NOT_KNOWN, f"{late} to {step}: the server waits for nothing", facts)
    said = f"{late} to {step}: it waits for {waits_for}"
    if waits_for.endswith("/SyncRep"):
        said += f"; {_standbys(facts.get('replication', {}))}"
    return _health(Condition.REFUSES, said, {**facts, "waits_for": waits_for})


def _standbys(replication: dict[str, Any]) -> str:
    connected = ", ".join(standby["name"] for standby in replication.get("standbys", ())) or "none"
    return f"synchronous_standby_names is {replication.get('synchronous_standby_names')!r}, connected: {connected}"


def _look(work: _Work, deadline: Deadline) -> tuple[str, dict[str, Any]]:
    own = unopened_connection(application_name=_APPLICATION)
    try:
        own.connect()
        return wait_of(own.connection, work.pid, deadline), read_facts(own.connection, deadline)
    finally:
        own.close()


def _cancel(work: _Work, deadline: Deadline) -> None:
    """End the wait: the row is committed and deleted here, whatever the standby has."""
    if work.connection is not None:
        with contextlib.suppress(Exception):  # it has ended meanwhile, or the server hears nothing
            work.connection.cancel_safe(timeout=max(0.2, deadline.seconds_left))


def _facts_of(work: _Work, deadline: Deadline) -> dict[str, Any]:
    raw = work.connection
    return {} if raw is None or raw.closed else read_facts(raw, deadline)


def _health(condition: Condition, said: str, facts: dict[str, Any], *, pooler: str = "") -> Health:
    settings = default.settings_dict
    server = f"{settings['HOST'] or 'localhost'}:{settings['PORT'] or 5432}/{settings['NAME']}"
    told = {**facts, "pooler": pooler} if pooler else facts
    return Health("database", condition, said, server, facts=told)
