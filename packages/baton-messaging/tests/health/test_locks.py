"""Who holds what another session waits for, asked of a real server."""

from uuid import uuid4

import pytest
from baton_messaging.health.locks import lock_waits

from tests.health.sessions import waiting
from tests.recovery.situations import hold

WORKER = "baton worker a@host 7"

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_wait_names_the_session_that_holds_the_row() -> None:
    with waiting(hold([uuid4()]), WORKER) as waits:
        (wait,) = waits
        assert (wait.application, wait.holder.application, wait.holder.is_ours) == (WORKER, "psql", False)
        assert wait.holder.is_forgotten
        assert wait.holder.since is not None
        assert wait.holder.statement == "UPDATE baton_heartbeat SET hostname = ? WHERE id = ?"
        assert str(wait.holder.pid) in wait.holder.ending
        assert [one.pid for one in lock_waits(min_seconds=60)] == [wait.pid]  # it is forgotten
    assert lock_waits(min_seconds=0) == []


def test_who_waits_behind_another_one_that_waits_is_told_of_the_first() -> None:
    with waiting(hold([uuid4()]), WORKER, "baton worker b@host 8") as waits:
        assert [wait.holder.application for wait in waits] == ["psql", "psql"]
