"""Waits for a lock name the session that holds it: whose it is, since when, and the statement that ends it.

The session at the end of the chain is told, not one that waits itself. Of statements the shape is shown, never a value:
what stands in them may be a customer's. Source: PostgreSQL manual, ``pg_stat_activity``, ``pg_blocking_pids``.

Hazard: without the role ``pg_read_all_stats`` PostgreSQL shows state and statement of one's own role's sessions only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from baton_messaging.health.redaction import statement_without_values

MIN_WAIT_SECONDS: Final = 2.0  # what waits for less is the ordinary traffic of a busy table …
FORGOTTEN_SECONDS: Final = 10.0  # … unless the one that holds it is idle: a stranger's at once, ours after so long
OURS: Final = "baton "  # how the names of this project's connections begin, or go on behind the project's own
PREPARED_PID: Final = 0  # what pg_blocking_pids says of a prepared transaction, which no session holds

#: What is told of a session, in the order of ``_session``.
_HOLDER: Final = """
    holder.pid, holder.usename, holder.application_name, host(holder.client_addr), holder.state,
    coalesce(holder.state_change, holder.xact_start), left(holder.query, 2000),
    extract(epoch FROM clock_timestamp() - holder.state_change)
"""
#: A prepared transaction has no session: pg_blocking_pids says 0; one of its locks is on its own transaction's number.
_PREPARED: Final = """
    SELECT prepared.gid, prepared.owner, prepared.prepared FROM pg_locks AS wanted
    JOIN pg_locks AS held ON held.granted AND held.pid IS NULL
        AND (held.locktype, held.relation, held.page, held.tuple, held.transactionid, held.classid, held.objid)
        IS NOT DISTINCT FROM (wanted.locktype, wanted.relation, wanted.page, wanted.tuple, wanted.transactionid,
            wanted.classid, wanted.objid)
    JOIN pg_locks AS own ON own.virtualtransaction = held.virtualtransaction AND own.pid IS NULL
    JOIN pg_prepared_xacts AS prepared ON prepared.transaction = own.transactionid
    WHERE NOT wanted.granted AND wanted.pid = waiting.pid LIMIT 1
"""
_WAITS: Final = f"""
    SELECT waiting.pid, waiting.application_name, extract(epoch FROM clock_timestamp() - waiting.query_start),
        blocker.pid, prepared.gid, prepared.owner, prepared.prepared, {_HOLDER}
    FROM pg_stat_activity AS waiting
    CROSS JOIN LATERAL unnest(pg_blocking_pids(waiting.pid)) AS blocker (pid)
    LEFT JOIN pg_stat_activity AS holder ON holder.pid = blocker.pid
    LEFT JOIN LATERAL ({_PREPARED}) AS prepared ON blocker.pid = {PREPARED_PID}
    WHERE waiting.datname = current_database() AND waiting.wait_event_type = 'Lock'
"""  # noqa: S608 - put together of constants
#: Modes that keep others from writing, on tables that are no catalogues.
_TABLES: Final = f"""
    SELECT held.relation::regclass::text, held.mode, {_HOLDER}
    FROM pg_locks AS held JOIN pg_stat_activity AS holder ON holder.pid = held.pid
    JOIN pg_class AS relation ON relation.oid = held.relation
    WHERE held.locktype = 'relation' AND held.granted AND relation.relkind IN ('r', 'p')
      AND held.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      AND relation.relnamespace <> 'pg_catalog'::regnamespace
      AND holder.datname = current_database() AND holder.pid <> pg_backend_pid()
    ORDER BY holder.xact_start
"""  # noqa: S608 - put together of constants
_IDLE_HOLDER: Final = f"""
    SELECT {_HOLDER}
    FROM pg_locks AS held JOIN pg_stat_activity AS holder ON holder.pid = held.pid
    WHERE held.locktype = 'relation' AND held.granted AND held.relation = to_regclass(%s)
      AND held.mode NOT IN ('AccessShareLock', 'ShareUpdateExclusiveLock')
      AND holder.datname = current_database() AND holder.state LIKE 'idle in transaction%%'
    ORDER BY holder.state_change LIMIT 1
"""  # noqa: S608 - put together of constants


@dataclass(frozen=True)
class Session:
    """A session that holds what others wait for. ``since``: when it came into its state, ``seconds`` ago."""

    pid: int
    user: str = ""
    application: str = ""
    address: str = ""
    state: str = ""
    since: datetime | None = None
    statement: str = ""
    seconds: float = 0
    gid: str = ""  # of a prepared transaction

    @property
    def is_ours(self) -> bool:
        """Tell whether a process of this project has it, by the name of its connection."""
        return _is_ours(self.application)

    @property
    def is_forgotten(self) -> bool:
        """Tell whether it does nothing while it holds the lock, which may be a session's, without a transaction."""
        return self.state.startswith("idle") or self.pid == PREPARED_PID

    @property
    def ending(self) -> str:
        """Return the statement that ends it."""
        if self.pid != PREPARED_PID:
            return f"SELECT pg_terminate_backend({self.pid})"
        return f"ROLLBACK PREPARED {_quoted(self.gid)}" if self.gid else "SELECT * FROM pg_prepared_xacts"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types, under the names that facts have."""
        told = {**asdict(self), "client": self.address, "since": self.since.isoformat() if self.since else None}
        del told["address"]
        return told


@dataclass(frozen=True)
class LockWait:
    """A session that waits for a lock, and the one that holds it."""

    pid: int
    application: str
    waits_seconds: float
    holder: Session


@dataclass(frozen=True)
class TableLock:
    """A table that a session keeps others from writing, or even from reading."""

    table: str
    mode: str
    holder: Session

    @property
    def is_total(self) -> bool:
        """Tell whether nobody else can even read the table, as in most migrations."""
        return self.mode == "AccessExclusiveLock"


def lock_waits(asked: Any = connection, *, min_seconds: float | None = None) -> list[LockWait]:
    """Return the waits of this database, the longest first. Raises the database's errors."""
    least_seconds = MIN_WAIT_SECONDS if min_seconds is None else min_seconds
    with asked.cursor() as cursor:
        cursor.execute(_WAITS)
        rows = cursor.fetchall()
    holders = {row[0]: _prepared(row[4:7]) if row[3] == PREPARED_PID else _session(row[7:]) for row in rows}
    waits = [LockWait(pid, name or "", float(seconds or 0), _last(pid, holders)) for pid, name, seconds, *_ in rows]
    unique = {wait.pid: wait for wait in waits if wait.waits_seconds >= least_seconds or _is_forgotten(wait.holder)}
    return sorted(unique.values(), key=lambda wait: -wait.waits_seconds)


def table_locks(asked: Any = connection) -> list[TableLock]:
    """Return the tables that sessions keep others from, the oldest transaction first. Raises the database's errors."""
    with asked.cursor() as cursor:
        cursor.execute(_TABLES)
        return [TableLock(str(table), str(mode), _session(holder)) for table, mode, *holder in cursor.fetchall()]


def idle_holder(relation: str, asked: Any = connection) -> Session | None:
    """Return a session that has locks on a table, or rows of it, and does nothing. Raises the database's errors."""
    with asked.cursor() as cursor:
        cursor.execute(_IDLE_HOLDER, [relation])
        row = cursor.fetchone()
    return _session(row) if row else None


def _prepared(columns: Sequence[Any]) -> Session:
    gid, owner, prepared_at = columns
    return Session(PREPARED_PID, owner or "", state="prepared", since=prepared_at, gid=gid or "")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _session(columns: Sequence[Any]) -> Session:
    pid, user, application, address, state, since, statement, seconds = columns
    shape = statement_without_values(statement or "")
    return Session(pid, user or "", application or "", address or "", state or "", since, shape, float(seconds or 0))


def _is_forgotten(holder: Session) -> bool:
    return holder.is_forgotten and (not holder.is_ours or holder.seconds >= FORGOTTEN_SECONDS)


def _last(pid: int, holders: Mapping[int, Session]) -> Session:
    """Follow who waits for whom to the one that waits for nobody; a circle ends where it began."""
    seen = {pid}
    holder = holders[pid]
    while holder.pid in holders and holder.pid not in seen:
        seen.add(holder.pid)
        holder = holders[holder.pid]
    return holder


def _is_ours(application: str) -> bool:
    return application.startswith(OURS) or f" {OURS}" in application
