"""The deadlock of two transactions: provoked, as a migration does that locks one table after another."""

from collections.abc import Callable
from contextlib import suppress

import psycopg
from psycopg.errors import DeadlockDetected

from baton_dev.testing.processes import url_of_test_database, wait_until

# Not pg_stat_activity: a transaction sees it as it was when it first looked, without those that have come since.
_WAITERS = "SELECT FROM pg_locks WHERE NOT granted AND relation = %s::regclass"


def provoke_deadlock(first: str, act: Callable[[], object], then: str) -> int:
    """Lock a table, make the other side want it, and lock what that side uses already: it loses, and is let go.

    PostgreSQL ends the statement that has waited for a second and finds a circle. The other side waits longer than we
    do, unless the machine stands still meanwhile: then we lose, and try again. Return how often it was made to act.
    """
    act_count, has_other_lost = 0, False
    while not has_other_lost:
        act_count += 1
        with psycopg.connect(url_of_test_database()) as other:
            other.execute(f"LOCK TABLE {first} IN ACCESS EXCLUSIVE MODE")
            act()
            wait_until(lambda: other.execute(_WAITERS, [first]).rowcount, what="a waiter")
            with suppress(DeadlockDetected):
                other.execute(f"LOCK TABLE {then} IN ACCESS EXCLUSIVE MODE")
                has_other_lost = True
            other.rollback()
    return act_count
