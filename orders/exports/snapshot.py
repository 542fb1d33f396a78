"""Read all rows of an export from one snapshot of the database, as COPY sends them.

Invariant: counting and reading see the same moment (REPEATABLE READ), so rows that come or go meanwhile shift nothing.
One transaction and no server-side cursor: PgBouncer in transaction mode does not break it.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from orders.exports.columns import Source
from orders.exports.counted_file import Rows

CLIENT_CHECK_MS = 2_000  # a server whose client was killed would sort or read on until it has something to send
ROWS_AT_ONCE = 200  # handed on together: less Python per row, and progress all the same when rows come slowly


class Snapshot:
    """One transaction's view of a source."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def count(self) -> int:
        """Return how many rows there are."""
        with connection.cursor() as cursor:
            cursor.execute(self._source.count_sql, self._source.count_params)
            return int(cursor.fetchone()[0])

    def copy(self, row_sql: str, *, options: str) -> Generator[Rows, None, None]:
        """Return the rows, some at once, each as one message of COPY. Whoever stops early must close the generator."""
        source = self._source
        statement = (
            f"COPY (SELECT {row_sql} FROM ({source.sql} OFFSET 0) AS source ({', '.join(source.aliases)}) "  # noqa: S608
            f"ORDER BY {source.aliases[0]}) TO STDOUT ({options})"
        )
        with _psycopg_cursor() as cursor, cursor.copy(statement, source.params) as copy:
            rows: list[Any] = []
            for row in copy:
                rows.append(row)
                if len(rows) == ROWS_AT_ONCE:
                    yield rows
                    rows = []
            if rows:
                yield rows


@contextmanager
def snapshot_of(source: Source) -> Iterator[Snapshot]:
    """Open the snapshot. No statement time limit: the task has one of its own."""
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute("SET LOCAL client_connection_check_interval = %s", [CLIENT_CHECK_MS])
        yield Snapshot(source)


@contextmanager
def _psycopg_cursor() -> Iterator[Any]:
    """Lend psycopg's own cursor, its errors turned into Django's: Django's copy() takes no parameters in debug mode."""
    with connection.wrap_database_errors, connection.connection.cursor() as cursor:
        yield cursor
