"""Empty the tables after a test that commits: in a few milliseconds, where Django's flush takes half a second.

Flush truncates every table, which makes new files for each and for its indexes, and then fills the permissions anew.
Here most tables are empty already, few rows are deleted, and what migrations filled stays. As with flush, all tables
are locked first: a process that is about to commit is waited for, and leaves no rows to the next test.
"""

from typing import Any

from django.db import connections
from django.test import TransactionTestCase

_EMPTY = """
DO $$
DECLARE
    kept CONSTANT text[] := ARRAY['django_migrations', 'django_content_type', 'auth_permission'];
    found record;
BEGIN
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


def _empty_tables(case: Any) -> None:
    for alias in case._databases_names(include_mirrors=False):
        with connections[alias].cursor() as cursor:
            cursor.execute(_EMPTY)


def install() -> None:
    """Put this in the place of Django's flush."""
    TransactionTestCase._fixture_teardown = _empty_tables  # type: ignore[attr-defined]  # private, and not in the stubs
