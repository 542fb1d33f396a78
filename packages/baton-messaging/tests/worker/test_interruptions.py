"""What the worker's main process notes, and that a note never costs more than itself (F21)."""

from typing import Any

import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.models import Interruption
from baton_messaging.models.interruption import InterruptionKind
from baton_messaging.worker.interruptions import note
from django.db import connection

pytestmark = pytest.mark.django_db(transaction=True)


def leave_a_note(**changes: Any) -> None:
    texts = {"task_id": "t", "consumer": "sample.die", "worker": "w@host", "detail": "signal 9 (SIGKILL)", **changes}
    note(InterruptionKind.KILLED, **texts)


def connection_count() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        (count,) = cursor.fetchone()
    return int(count)


def test_a_note_is_written_over_a_connection_of_its_own_that_is_closed_at_once() -> None:
    before = connection_count()
    leave_a_note()
    found = Interruption.objects.get()
    assert (found.task_id, found.kind, found.detail) == ("t", InterruptionKind.KILLED, "signal 9 (SIGKILL)")
    # The server lists a connection a moment longer than the client has it.
    wait_until(lambda: connection_count() <= before, what="the end of the note's connection")


def test_whatever_a_note_says_it_can_be_stored() -> None:
    leave_a_note(
        detail="a NUL \x00 and a surrogate \ud800" * 500, task_id="x" * 500, traceback="\x00", worker="w" * 500
    )
    assert Interruption.objects.count() == 1


def test_a_database_that_is_away_costs_the_note_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(connection.settings_dict, "PORT", "1")
        leave_a_note()
    assert not Interruption.objects.exists()
