"""Facts about the database: which server it is, who waits for whom, who holds what, and what is set where.

Each is read by one statement, by which the server itself makes JSON. A role that may not see the sessions of others
still learns their process ids, users and applications; the rest of such a session is null, and the fact
``sees_all_sessions`` says so. Values do not leave the database: of a statement its form is kept.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

import psycopg

from baton_messaging.database.deadline import Deadline, milliseconds
from baton_messaging.health.locks import lock_waits, table_locks
from baton_messaging.health.redaction import quoted, statement_without_values
from baton_messaging.health.table_facts import TABLE_FACTS, guards_statement

#: Seconds after which a session that does nothing within its transaction is told of.
IDLE_SECONDS: Final = 5
#: What each list holds at most: the longest first.
MAX_ROWS: Final = 10
#: Settings by which work that is well written fails.
_HARMFUL: Final = (
    "default_transaction_read_only",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "lock_timeout",
    "search_path",
    "session_replication_role",
    "statement_timeout",
    "synchronous_commit",
    "transaction_timeout",
)

_SESSION: Final = """
    a.pid, a.usename AS "user", a.application_name AS application, host(a.client_addr) AS client, a.state,
    a.state_change AS since, round(extract(epoch FROM clock_timestamp() - a.state_change)::numeric, 1) AS seconds,
    round(extract(epoch FROM clock_timestamp() - a.xact_start)::numeric, 1) AS transaction_seconds,
    age(a.backend_xmin) AS xmin_age, left(a.query, 2000) AS statement
"""
_OURS: Final = "a.datname = current_database() AND a.pid <> pg_backend_pid()"
_ONE: Final = {
    "server": """
        SELECT current_setting('server_version') AS version, current_database() AS database, current_user AS "user",
            host(inet_server_addr()) || ':' || inet_server_port() AS address, pg_is_in_recovery() AS is_in_recovery,
            current_setting('transaction_read_only') = 'on' AS is_read_only, pg_postmaster_start_time() AS started_at,
            current_schema() AS schema, clock_timestamp() AS clock,
            pg_has_role('pg_read_all_stats', 'usage') AS sees_all_sessions
    """,
    "identity": "SELECT system_identifier::text FROM pg_control_system()",  # not every role may ask
    "connections": """
        SELECT current_setting('max_connections')::int AS max,
            current_setting('superuser_reserved_connections')::int
                + coalesce(current_setting('reserved_connections', true)::int, 0) AS reserved,
            (SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL AND usesysid IS NOT NULL) AS used,
            (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS limit_of_user,
            (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS limit_of_database
    """,
    "replication": """
        SELECT current_setting('synchronous_standby_names') AS synchronous_standby_names,
            current_setting('synchronous_commit') AS synchronous_commit,
            (SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep') AS sessions_waiting,
            (SELECT coalesce(json_agg(json_build_object('name', application_name, 'state', state, 'sync', sync_state)),
                '[]') FROM pg_stat_replication) AS standbys
    """,
}
_MANY: Final = {
    **TABLE_FACTS,
    "idle_in_transaction": f"""
        SELECT {_SESSION} FROM pg_stat_activity a
        WHERE {_OURS} AND a.state LIKE 'idle in transaction%'
            AND a.state_change < clock_timestamp() - interval '{IDLE_SECONDS} seconds'
        ORDER BY a.state_change
    """,  # noqa: S608 - our own names
    "prepared_transactions": """
        SELECT gid, owner AS "user", prepared AS since, age(transaction) AS xmin_age,
            round(extract(epoch FROM clock_timestamp() - prepared)::numeric, 1) AS seconds
        FROM pg_prepared_xacts WHERE database = current_database() ORDER BY prepared
    """,
    "connections_by": """
        SELECT usename AS "user", application_name AS application, state, count(*) AS count
        FROM pg_stat_activity WHERE datid IS NOT NULL AND usesysid IS NOT NULL
        GROUP BY usename, application_name, state ORDER BY count(*) DESC
    """,
    "settings": f"""
        SELECT r.rolname AS "user", d.datname AS database, split_part(setting, '=', 1) AS name,
            substr(setting, strpos(setting, '=') + 1) AS value
        FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole
            LEFT JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) AS setting
        WHERE (d.datname IS NULL OR d.datname = current_database())
            AND split_part(setting, '=', 1) IN ({", ".join(f"'{name}'" for name in _HARMFUL)})
    """,  # noqa: S608 - our own names
    "settings_in_force": f"""
        SELECT name, reset_val AS value, nullif(source, 'session') AS source FROM pg_settings
        WHERE reset_val <> boot_val AND name IN ({", ".join(f"'{name}'" for name in _HARMFUL)})
    """,  # noqa: S608 - our own names
    "xmin_holders": """
        SELECT * FROM (
            SELECT 'session' AS kind, pid::text AS name, usename AS "user", application_name AS application,
                age(backend_xmin) AS xmin_age FROM pg_stat_activity WHERE backend_xmin IS NOT NULL
            UNION ALL SELECT 'replication slot', slot_name, NULL, NULL, greatest(age(xmin), age(catalog_xmin))
                FROM pg_replication_slots WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL
            UNION ALL SELECT 'prepared transaction', gid, owner, NULL, age(transaction) FROM pg_prepared_xacts
            UNION ALL SELECT 'standby', application_name, usename, NULL, age(backend_xmin)
                FROM pg_stat_replication WHERE backend_xmin IS NOT NULL
        ) AS holders WHERE xmin_age > 1000 ORDER BY xmin_age DESC
    """,
}


def read_facts(connection: "psycopg.Connection[Any]", deadline: Deadline) -> dict[str, Any]:
    """Return all facts that the server tells in time; ``not_told`` has its words for the others.

    In one transaction, which saves a dozen round trips, and in another one after each statement that is refused.
    """
    facts: dict[str, Any] = {}
    not_told: dict[str, str] = {}
    waiting = list(_QUESTIONS.items())
    while waiting and not deadline.has_passed:
        try:
            with _limited(connection, deadline):
                while waiting:
                    name, ask = waiting[0]
                    facts |= ask(connection, name)
                    del waiting[0]
        except psycopg.Error as error:
            not_told |= {name: quoted(str(error)) for name, _ask in waiting[:1]}
            del waiting[:1]
    not_told |= {name: "no time left" for name, _ask in waiting}
    return {**facts, **({"not_told": not_told} if not_told else {})}


def _told(connection: "psycopg.Connection[Any]", name: str) -> dict[str, Any]:
    before = datetime.now(UTC)
    rows = _rows(connection, {**_ONE, **_MANY}[name])
    if name == "server":
        return {name: rows[0], "clock_offset_seconds": _offset(rows[0]["clock"], before)}
    return {name: rows[0] if name in _ONE else rows}


def _blockers(connection: "psycopg.Connection[Any]", name: str) -> dict[str, Any]:
    """Return who holds what others wait for, and for how long the first of them has."""
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for wait in lock_waits(connection, min_seconds=0):
        holder = wait.holder
        told = found.setdefault((holder.pid, holder.gid), {**holder.as_dict(), "blocks": [], "blocks_seconds": 0.0})
        told["blocks"].append(wait.pid)
        told["blocks_seconds"] = max(told["blocks_seconds"], round(wait.waits_seconds, 1))
    return {name: list(found.values())[:MAX_ROWS]}


def _guards(connection: "psycopg.Connection[Any]", name: str) -> dict[str, Any]:
    return {name: _rows(connection, guards_statement())}


def _table_locks(connection: "psycopg.Connection[Any]", name: str) -> dict[str, Any]:
    locks = table_locks(connection)[:MAX_ROWS]
    return {name: [{"table": lock.table, "mode": lock.mode, **lock.holder.as_dict()} for lock in locks]}


_Ask = Callable[["psycopg.Connection[Any]", str], dict[str, Any]]
_QUESTIONS: Final[dict[str, _Ask]] = {
    **dict.fromkeys((*_ONE, *_MANY), _told),
    "blockers": _blockers,
    "table_locks": _table_locks,
    "guards": _guards,
}


def _offset(clock: str, before: datetime) -> float:
    """Return by how many seconds the server's clock is ahead (or, negative, behind) of ours, which took time to ask."""
    theirs, after = datetime.fromisoformat(clock), datetime.now(UTC)
    nearest = min(max(theirs, before), after)
    return round((theirs - nearest).total_seconds(), 3)


def wait_of(connection: "psycopg.Connection[Any]", pid: int, deadline: Deadline) -> str:
    """Return what a session waits for, as in "IPC/SyncRep"; empty if it waits for nothing, or is not there."""
    statement = f"SELECT wait_event_type || '/' || wait_event AS waits_for FROM pg_stat_activity WHERE pid = {pid:d}"  # noqa: S608
    with _limited(connection, deadline):
        rows = _rows(connection, statement)
    return str(rows[0]["waits_for"] or "") if rows else ""


@contextmanager
def _limited(connection: "psycopg.Connection[Any]", deadline: Deadline) -> Iterator[None]:
    with connection.transaction():
        connection.execute(f"SET LOCAL statement_timeout = '{milliseconds(deadline.seconds_left)}'")
        yield


def _rows(connection: "psycopg.Connection[Any]", statement: str) -> list[dict[str, Any]]:
    asked = connection.execute(
        f"SELECT coalesce(json_agg(row_to_json(found)), '[]')::text FROM ({statement} LIMIT {MAX_ROWS}) AS found"  # noqa: S608
    )
    row = asked.fetchone()
    return [_without_values(found) for found in json.loads(row[0] if row else "[]")]


def _without_values(row: dict[str, Any]) -> dict[str, Any]:
    if row.get("statement"):
        row["statement"] = statement_without_values(row["statement"])
    return row
