"""Get into each other's way, as a migration does that locks one table after another."""

from collections.abc import Callable

import psycopg

from tests.processes import url_of_test_database, wait_until

_IS_WAITED_FOR = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"


def lock_in_the_wrong_order(first: str, act: Callable[[], object], then: str) -> None:
    """Lock a table, make somebody want it, and lock what they use already: they lose, and are let go.

    PostgreSQL ends the statement of whoever has waited for a second and finds a circle. They wait longer than we do.
    """
    with psycopg.connect(url_of_test_database()) as other:
        other.execute(f"LOCK TABLE {first} IN ACCESS EXCLUSIVE MODE")
        act()
        wait_until(lambda: other.execute(_IS_WAITED_FOR, [other.info.backend_pid]).fetchone() != (0,), what="a waiter")
        other.execute(f"LOCK TABLE {then} IN ACCESS EXCLUSIVE MODE")
        other.rollback()
