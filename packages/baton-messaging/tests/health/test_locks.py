"""Who holds what another session waits for, asked of a real server."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.health.locks import LockWait, lock_waits
from baton_messaging.models import Heartbeat

from tests.recovery.situations import hold

WORKER = "baton worker a@host 7"

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_a_wait_names_the_session_that_holds_the_row() -> None:
    with waiting(hold([uuid4()]), WORKER) as waits:
        (wait,) = waits
        assert (wait.application, wait.holder.application, wait.holder.is_ours) == (WORKER, "psql", False)
        assert wait.holder.is_forgotten
        assert wait.holder.since is not None
        assert wait.holder.statement == "UPDATE baton_heartbeat SET hostname = ? WHERE id = ?"
        assert str(wait.holder.pid) in wait.holder.command
        assert lock_waits(min_seconds=60) == []
    assert lock_waits(min_seconds=0) == []


def test_who_waits_behind_another_one_that_waits_is_told_of_the_first() -> None:
    with waiting(hold([uuid4()]), WORKER, "baton worker b@host 8") as waits:
        assert [wait.holder.application for wait in waits] == ["psql", "psql"]
