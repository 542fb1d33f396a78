"""The heartbeat itself: it says what the loop says, and costs the loop nothing."""

import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.messages.message_ids import message_ids_in
from baton_messaging.models import Heartbeat
from baton_messaging.processes import heartbeat as heartbeat_module
from baton_messaging.processes.heartbeat import Beat, HeartbeatWriter
from baton_messaging.processes.rounds import RoundProcess
from django.db import DataError, OperationalError, connection

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def writer() -> Iterator[HeartbeatWriter]:
    made = HeartbeatWriter("relay")
    made.start()
    yield made
    made.stop("SIGTERM")
    # Its own: one that was killed before may have beaten last of all. In time: stop() waits for a moment only.
    wait_until(lambda: not Heartbeat.objects.filter(pid=os.getpid()).exists(), what="a row that has ended")


def test_what_the_loop_says_is_written_once(writer: HeartbeatWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    monkeypatch.setattr(heartbeat_module, "_upsert", lambda *_args, **kwargs: written.append(kwargs["beat"]))
    writer.beat(Beat(is_consuming=True, received_count=1))
    wait_until(lambda: len(written) == 1, what="the first beat")
    writer.beat(Beat(is_consuming=False, received_count=2))
    wait_until(lambda: len(written) == 2, what="the second beat")
    assert [beat["received_count"] for beat in written] == [1, 2]


def test_a_database_that_is_away_costs_beats_and_nothing_else(writer: HeartbeatWriter) -> None:
    tried = threading.Event()

    def refuse(*_args: Any, **_kwargs: Any) -> None:
        tried.set()
        raise OperationalError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(heartbeat_module, "_upsert", refuse)
        writer.beat(Beat(is_consuming=True))
        assert tried.wait(10)
    writer.beat(Beat(is_consuming=True, received_count=7))
    wait_until(Heartbeat.objects.filter(received_count=7).exists, what="the next beat")


def test_no_child_is_forked_while_a_connection_is_open(
    writer: HeartbeatWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_open, may_close = threading.Event(), threading.Event()

    def slow_upsert(*_args: Any, **_kwargs: Any) -> None:
        is_open.set()
        may_close.wait(10)

    monkeypatch.setattr(heartbeat_module, "_upsert", slow_upsert)
    writer.beat(Beat(is_consuming=True))
    assert is_open.wait(10)
    assert not writer.hold(0.05)
    may_close.set()
    assert writer.hold(10)
    writer.go_on()


def test_the_row_of_a_twin_is_not_ended(writer: HeartbeatWriter) -> None:
    writer.beat(Beat(is_consuming=True))
    wait_until(Heartbeat.objects.exists, what="a row")
    Heartbeat.objects.update(pid=1, wiring={})  # of what runs there nothing is known
    writer.stop("SIGTERM")
    assert Heartbeat.objects.get().pid == 1
    Heartbeat.objects.all().delete()


def test_a_process_that_ends_says_how_and_is_no_process_any_more(writer: HeartbeatWriter) -> None:
    writer.beat(Beat(is_consuming=True, running=[{"consumer": "x", "message_ids": []}]))
    wait_until(Heartbeat.objects.exists, what="a row")
    writer.stop("stopped by SIGTERM")
    assert not Heartbeat.objects.exists()
    row = Heartbeat.ended.get()
    assert (row.ended_by, row.is_fresh, row.running) == ("stopped by SIGTERM", False, [])


def test_nothing_stays_connected(writer: HeartbeatWriter) -> None:
    writer.beat(Beat(is_consuming=True))
    wait_until(Heartbeat.objects.exists, what="a row")
    # PostgreSQL takes a moment to forget a client that has left.
    wait_until(lambda: _connected_count() == 0, what="the end of the connection")


def _connected_count() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND query LIKE '%%baton_heartbeat%%'"
        )
        return int(cursor.fetchone()[0])


GOOD = '{"message_id": "0190d3c2-7a00-7000-8000-000000000001", "payload": {"a:b": ":"}}:signature'


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ([[GOOD, GOOD]], 2),
        ([["", ":", "{}:s", "[]:s", '{"message_id": 7}:s', '{"message_id": "no"}:s', "[" * 100_000 + ":s", GOOD]], 1),
        ([[None, 7, {"__type__": "x"}, GOOD]], 1),
        ([GOOD], 0),
        ([[GOOD], [GOOD]], 0),
        ([], 0),
        (None, 0),
        ({"args": 1}, 0),
        ([[GOOD] * 5_000], 1_000),
    ],
)
def test_ids_are_read_from_whatever_a_body_contains(arguments: Any, count: int) -> None:
    assert len(message_ids_in(arguments)) == count


class _Refused(RoundProcess):
    def _work(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")


@pytest.mark.django_db(transaction=True)
def test_a_process_that_cannot_even_start_leaves_a_row_that_says_why() -> None:
    with pytest.raises(DataError):
        _Refused("relay").run()
    connection.close()

    row = Heartbeat.ended.get(role="relay")
    assert row.ended_by == "ended by an error: DataError"


class _WithoutRights(RoundProcess):
    """A process whose role gets its rights while it waits."""

    rounds = 0

    def _work(self) -> None:
        self.rounds += 1
        if self.rounds > 1:
            self.stop()
            return
        with connection.cursor() as cursor:
            cursor.execute("SET ROLE pg_monitor")  # which has no rights on our tables
            cursor.execute("SELECT FROM baton_outbox")


@pytest.mark.django_db(transaction=True)
def test_a_process_whose_role_lacks_a_right_waits_until_it_is_given() -> None:
    process = _WithoutRights("relay")
    process.run()
    connection.close()

    assert process.rounds == 2
    assert Heartbeat.ended.get(role="relay").ended_by == "stopped"
