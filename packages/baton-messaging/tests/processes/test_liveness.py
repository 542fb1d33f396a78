"""Who counts as alive: real workers that are busy, stopped, or leave their queue alone."""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import redis
from baton_dev.testing.failover import READ_ONLY, new_connections
from baton_dev.testing.processes import Process, running, url_of_test_database, wait_until, worker_command
from baton_messaging.models import Heartbeat
from baton_messaging.processes.liveness import Life, life_of
from baton_messaging.publish import publish
from baton_messaging.relaying.outbox_round import send_outbox
from celery import current_app
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models.functions import Now

from tests.health.conftest import admin, commits_hang  # noqa: F401 - fixtures
from tests.recovery.situations import hold
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def send(*, seconds: float, count: int) -> None:
    """Bring messages into the broker, each alone."""
    with current_app.connection_for_write() as broker:
        producer = current_app.amqp.Producer(broker, auto_declare=False)
        for _ in range(count):
            with transaction.atomic():
                publish(Sampled(sample_id=uuid4(), seconds=seconds))
            send_outbox(producer)


def life_of_process(worker: Process) -> Life:
    rows = Heartbeat.objects.filter(pid=worker.pid)
    wait_until(rows.all().exists, what="a heartbeat")
    return life_of("worker", rows.get().name)


@contextmanager
def broker_that_gives_nothing() -> Iterator[None]:
    """Let Valkey refuse to take messages out of the queues; all else goes on, and its own queue the check may use."""
    others = ("~unacked*", "~_baton*", "~baton.health*", "~_kombu*")
    with redis.Redis.from_url(os.environ["CELERY_BROKER_URL"]) as client:
        client.execute_command("ACL", "SETUSER", "default", "resetkeys", "%R~*", *others, "(+lpush ~*)")
        try:
            yield
        finally:
            client.execute_command("ACL", "SETUSER", "default", "clearselectors", "allkeys")


def test_a_busy_worker_is_alive_though_its_queue_fills(worker: Process) -> None:
    send(seconds=3, count=5)
    wait_until(lambda: Heartbeat.objects.filter(pid=worker.pid, running__0__isnull=False).exists(), what="a run")
    busy = Heartbeat.objects.filter(pid=worker.pid, running__0__isnull=False)
    later = busy.filter(beaten_at__gt=Heartbeat.objects.get(pid=worker.pid).beaten_at)
    wait_until(lambda: life_of_process(worker).is_alive and later.exists(), what="life in a worker that is busy")


def test_a_stopped_worker_is_dead_until_it_goes_on(worker: Process) -> None:
    wait_until(lambda: life_of_process(worker).is_alive, what="a living worker")
    os.kill(worker.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: "SIGSTOP" in life_of_process(worker).why, what="a stopped worker")
        assert not life_of_process(worker).is_alive
    finally:
        os.kill(worker.pid, signal.SIGCONT)
    wait_until(lambda: life_of_process(worker).is_alive, what="a living worker")


def test_a_worker_that_may_take_nothing_of_what_waits_is_alive_and_says_why(worker: Process) -> None:
    consumes = Heartbeat.objects.filter(pid=worker.pid, is_consuming=True)
    wait_until(consumes.all().exists, what="a worker that takes work")  # one that has just started takes none either
    with broker_that_gives_nothing():
        send(seconds=0, count=1)
        wait_until(lambda: "NOPERM" in life_of_process(worker).why, what="a worker that says what it meets")
        assert life_of_process(worker).is_alive
    wait_until(lambda: life_of_process(worker).is_alive, what="a living worker")


@contextmanager
def replica() -> Iterator[None]:
    """Let Valkey take no writes: it lets everybody in, and refuses all work."""
    with redis.Redis.from_url(os.environ["CELERY_BROKER_URL"]) as client:
        client.execute_command("REPLICAOF", "127.0.0.1", "9")
        try:
            yield
        finally:
            client.execute_command("REPLICAOF", "NO", "ONE")


def test_a_worker_whose_broker_refuses_all_work_beats_while_it_tries_again(worker: Process) -> None:
    rows = Heartbeat.objects.filter(pid=worker.pid)
    wait_until(rows.filter(is_consuming=True).exists, what="a worker that takes work")
    with replica():
        first = wait_until(rows.filter(is_consuming=False).first, what="a worker that takes none")
        wait_until(rows.filter(beaten_at__gt=first.beaten_at).exists, what="another beat")
        life = life_of_process(worker)
        assert (life.is_alive, "READONLY" in life.why or "nothing to take" in life.why) == (True, True), life.why
    wait_until(rows.filter(is_consuming=True).exists, what="a worker that takes work again", seconds=40)


def test_a_process_that_is_silent_while_its_broker_refuses_is_not_restarted() -> None:
    row = hold([], role="relay", hostname="another", beaten_seconds_ago=600)
    assert not life_of("relay", row.name).is_alive
    with replica():
        life = life_of("relay", row.name)
        assert (life.is_alive, "READONLY" in life.why) == (True, True), life.why


def test_a_worker_that_was_told_to_consume_no_more_is_dead_of_it(empty_broker: None, tmp_path: Path) -> None:
    with running(worker_command("sample", "parcels"), log=tmp_path / "w.log", ready=" ready.") as worker:
        consumes = Heartbeat.objects.filter(pid=worker.pid, is_consuming=True)
        row = wait_until(consumes.first, what="a worker that takes work")
        current_app.control.cancel_consumer("parcels", destination=[row.name], reply=True, timeout=20, limit=1)
        wait_until(lambda: not life_of("worker", row.name).is_alive, what="a worker that is dead of it")
        assert "no longer consumes parcels, which its command line names" in life_of("worker", row.name).why


def test_of_two_workers_with_one_name_the_one_that_hangs_is_noticed(empty_broker: None, tmp_path: Path) -> None:
    command = [*worker_command("sample"), "-n", "twin@test"]
    with (
        running(command, log=tmp_path / "one.log", ready=" ready.") as one,
        running(command, log=tmp_path / "two.log", ready=" ready.") as other,
    ):
        rows = Heartbeat.objects.filter(name="twin@test").filter(wiring__has_key="broker")
        wait_until(lambda: rows.count() == 2, what="a row of each")
        assert life_of("worker", "twin@test").is_alive
        os.killpg(one.pid, signal.SIGSTOP)
        try:
            wait_until(lambda: not life_of("worker", "twin@test").is_alive, what="a twin that hangs")
            assert f"pid {one.pid}" in life_of("worker", "twin@test").why
        finally:
            os.killpg(one.pid, signal.SIGCONT)
        wait_until(lambda: life_of("worker", "twin@test").is_alive, what="two that live")
        one.kill()
        wait_until(lambda: rows.fresh().count() == 1, what="a row that gets old")
        assert life_of("worker", "twin@test").is_alive  # of a process that is gone the other one tells
        assert other.exit_code is None


def alive(*words: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("alive", *words, stdout=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def test_the_probe_names_one_process_of_this_host() -> None:
    assert alive("relay")[0] == 1
    hold([], role="relay", hostname="another")
    assert alive("relay")[0] == 1
    hold([], role="relay", hostname=socket.gethostname())
    assert alive("relay")[0] == 0
    hold([], role="relay", hostname=socket.gethostname(), beaten_seconds_ago=60)  # of one that was killed
    assert alive("relay")[0] == 0
    row = hold([])
    Heartbeat.objects.filter(pk=row.pk).update(name=f"parcels@{socket.gethostname()}")
    assert alive("worker", "parcels")[0] == 0
    assert alive("worker", "mails")[0] == 1


def test_a_worker_that_takes_nothing_is_dead_only_while_it_has_room_and_something_waits() -> None:
    row = hold([], is_consuming=False, capacity=1, reserved=[])
    Heartbeat.objects.filter(pk=row.pk).update(queues=["mails"])  # which the worker that tests share does not consume
    assert life_of("worker", row.name).is_alive
    current_app.send_task("mails.any", queue="mails")
    assert not life_of("worker", row.name).is_alive
    Heartbeat.objects.filter(pk=row.pk).update(running=[{"consumer": "mails.any", "message_ids": [str(uuid4())]}])
    assert life_of("worker", row.name).is_alive


def test_a_worker_whose_broker_permits_nothing_is_alive_and_waits_for_it() -> None:
    row = hold([], is_consuming=False, capacity=1, reserved=[])
    send(seconds=0, count=1)
    with redis.Redis.from_url(os.environ["CELERY_BROKER_URL"]) as client:
        client.execute_command("ACL", "SETUSER", "default", "-eval")
        try:
            life = life_of("worker", row.name)
        finally:
            client.execute_command("ACL", "SETUSER", "default", "+eval")
    assert (life.is_alive, "NOPERM" in life.why) == (True, True)


def test_a_worker_without_its_broker_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    row = hold([], is_consuming=False)
    monkeypatch.setattr(current_app.conf, "broker_read_url", "redis://127.0.0.1:1/0")
    life = life_of("worker", row.name)
    assert (life.is_alive, "waits for its broker" in life.why) == (True, True)


def test_without_the_database_the_probe_cannot_tell_and_restarts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")
    code, text = alive("worker", "parcels")
    assert (code, text.startswith("Cannot tell")) == (0, True)


@pytest.mark.parametrize("has_beaten", [True, False])
def test_while_the_database_takes_no_writes_nobody_is_restarted_for_its_silence(*, has_beaten: bool) -> None:
    if has_beaten:
        hold([], role="relay", hostname=socket.gethostname(), beaten_seconds_ago=600)
    with new_connections(READ_ONLY):
        code, text = alive("relay")
    assert (code, "the database is read-only" in text) == (0, True)
    assert alive("relay")[0] == 1


def test_while_no_commit_comes_back_nobody_is_restarted_for_its_silence(request: pytest.FixtureRequest) -> None:
    hold([], role="relay", hostname=socket.gethostname(), beaten_seconds_ago=600)
    request.getfixturevalue("commits_hang")
    code, text = alive("relay")
    assert (code, "cannot tell of relay" in text, "standby1" in text) == (0, True, True)


@pytest.mark.parametrize("held", ["UPDATE baton_heartbeat SET trouble = ''", "LOCK TABLE baton_heartbeat"])
def test_a_process_whose_row_another_session_holds_is_not_restarted(held: str) -> None:
    hold([], role="relay", hostname=socket.gethostname(), beaten_seconds_ago=600)
    with psycopg.connect(url_of_test_database()) as forgotten:
        forgotten.execute(held)
        code, text = alive("relay")
        assert (code, text[:11].lower()) == (0, "cannot tell")
    assert alive("relay")[0] == 1


def test_ages_are_by_the_database_s_clock(settings: Any) -> None:
    settings.BATON = {**settings.BATON, "HEARTBEAT_STALE_SECONDS": 90}
    row: Any = hold([], role="beat", beaten_seconds_ago=60)
    found = Heartbeat.objects.get(pk=row.pk)
    assert found.is_fresh
    assert 60 <= found.age_seconds < 90
    Heartbeat.objects.filter(pk=row.pk).update(beaten_at=Now())
    assert Heartbeat.objects.get(pk=row.pk).age_seconds < 30
