"""Tables are emptied after a test that commits: in a few milliseconds, where Django's flush takes half a second.

Flush truncates every table, which makes new files for each and for its indexes, and then fills the permissions anew.
Here most tables are empty already, few rows are deleted, and what migrations filled stays. As with flush, all tables
are locked first: a process that is about to commit is waited for, and leaves no rows to the next test. No process
is waited for while tables are locked already, or it and we might wait for each other: PostgreSQL would end its
statement, and a test would fail for a deadlock that no user can have.
"""

import time
from typing import Any

from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase
from psycopg.errors import LockNotAvailable

MAX_WAIT_SECONDS = 30.0
_EMPTY = """
DO $$
DECLARE
    kept CONSTANT text[] := ARRAY['django_migrations', 'django_content_type', 'auth_permission'];
    found record;
BEGIN
    SET LOCAL lock_timeout = '200ms';  -- PostgreSQL looks for deadlocks after a second
    SET LOCAL session_replication_role = replica;  -- neither foreign keys nor the audit's trigger object
    EXECUTE (
        SELECT 'LOCK TABLE ' || string_agg(oid::regclass::text, ', ' ORDER BY oid) || ' IN ACCESS EXCLUSIVE MODE'
        FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname <> ALL (kept)
    );
    FOR found IN
        SELECT oid::regclass AS name, pg_relation_size(oid) AS byte_count
        FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname <> ALL (kept)
    LOOP
        IF found.byte_count > 1000000 THEN
            EXECUTE format('TRUNCATE %s CASCADE', found.name);
        ELSIF found.byte_count > 0 THEN
            EXECUTE format('DELETE FROM %s', found.name);
        END IF;
    END LOOP;
END $$
"""


def empty_tables(connection: BaseDatabaseWrapper) -> None:
    """Empty every table of the project, once no other connection uses one."""
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while True:
        is_over = time.monotonic() > deadline  # by now: the machine may stand still while we try
        if _try_to_empty_tables(connection):
            return
        if is_over:
            raise AssertionError(
                f"Expected the tables to be free within {MAX_WAIT_SECONDS} s, and another connection uses one."
            )


def _try_to_empty_tables(connection: BaseDatabaseWrapper) -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute(_EMPTY)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        return False
    return True


def _empty_tables_of(case: Any) -> None:
    for alias in case._databases_names(include_mirrors=False):
        empty_tables(connections[alias])


def install() -> None:
    """Put this in the place of Django's flush."""
    TransactionTestCase._fixture_teardown = _empty_tables_of  # type: ignore[attr-defined]  # private, not in the stubs
