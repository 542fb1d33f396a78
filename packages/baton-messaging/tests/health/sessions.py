"""Sessions that hold a row, and sessions that wait for it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from baton_dev.testing.processes import wait_until
from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.health.locks import LockWait, lock_waits
from baton_messaging.models import Heartbeat


@contextmanager
def named(name: str) -> Iterator[Any]:
    with dedicated_connection() as own:
        own.settings_dict["OPTIONS"] = {**own.settings_dict["OPTIONS"], "application_name": name}
        yield own


@contextmanager
def forgotten(row: Heartbeat) -> Iterator[None]:
    """Let a session hold the row, and do nothing."""
    with named("psql") as own, own.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("UPDATE baton_heartbeat SET hostname = 'secret' WHERE id = %s", [row.pk])
        yield
        cursor.execute("ROLLBACK")


def write(row: Heartbeat, name: str) -> None:
    with named(name) as own, own.cursor() as cursor:
        cursor.execute("UPDATE baton_heartbeat SET pid = 2 WHERE id = %s", [row.pk])


def are_waiting(count: int) -> bool:
    return len(lock_waits(min_seconds=0)) == count


@contextmanager
def waiting(row: Heartbeat, *names: str) -> Iterator[list[LockWait]]:
    """Let sessions wait for the row in this order, one behind the other."""
    waiters = []
    with forgotten(row):
        for count, name in enumerate(names, start=1):
            waiters.append(threading.Thread(target=write, args=(row, name)))
            waiters[-1].start()
            wait_until(partial(are_waiting, count), what="a wait")
        yield lock_waits(min_seconds=0)
    for waiter in waiters:
        waiter.join()
