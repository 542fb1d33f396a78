"""Real processes say that they live: what their rows tell, and when they stop telling it."""

import os
import signal
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from baton_dev.servers.embedded import Valkey
from baton_dev.testing.processes import Process, collector_command, relay_command, running, wait_until, worker_command
from baton_messaging.models import Heartbeat
from baton_messaging.processes.findings import process_findings
from baton_messaging.publish import publish
from django.db import transaction

from tests.processes.conftest import OneBroker
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def consuming(role: str, pid: int) -> Heartbeat:
    """Return the fresh row of a process that does its work."""
    rows = Heartbeat.objects.fresh().filter(role=role, pid=pid, is_consuming=True)
    return wait_until(lambda: rows.all().first(), what=f"a {role} at work")


def test_a_worker_tells_what_it_runs_and_what_it_has_reserved(worker: Process, relay: Process) -> None:
    ids = [uuid4() for _ in range(3)]
    for sample_id in ids:
        with transaction.atomic():
            publish(Sampled(sample_id=sample_id, behaviour="ok", seconds=2))
    # A look at the broker that takes too long says that nothing is consumed; the next one, that it is.
    busy = Heartbeat.objects.filter(pid=worker.pid, running__0__isnull=False, is_consuming=True)
    found = wait_until(lambda: busy.all().first(), what="a running message of a worker that takes work")
    assert "sample" in found.queues
    assert found.capacity == found.child_count > 0
    (running_now, *_more) = found.running
    assert running_now["consumer"] == "sample.take_one"
    assert running_now["started_at"]
    assert len(running_now["message_ids"]) >= 1
    idle = Heartbeat.objects.filter(pid=worker.pid, finished_count__gte=1, running=[])
    assert wait_until(lambda: idle.all().first(), what="the end of the work").last_finished_at


def test_a_relay_beats_and_says_what_stopped_it(tmp_path: Path) -> None:
    with running(relay_command(), log=tmp_path / "relay.log", ready="relay_started") as process:
        found = consuming("relay", process.pid)
        os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: not Heartbeat.objects.fresh().filter(pid=process.pid).exists(), what="a stale row")
        os.kill(process.pid, signal.SIGCONT)
        assert consuming("relay", process.pid).name == found.name
    assert not Heartbeat.objects.filter(pid=process.pid).exists()
    assert Heartbeat.ended.get(pid=process.pid).ended_by == "stopped by SIGTERM"


def test_beat_and_the_collector_beat(tmp_path: Path) -> None:
    beat = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "tests.project",
        "beat",
        "-l",
        "INFO",
        "--pidfile=",
        "-s",
        str(tmp_path / "s"),
    ]
    collector = collector_command()
    with (
        running(beat, log=tmp_path / "beat.log", ready="beat: Starting") as beats,
        running(collector, log=tmp_path / "collector.log", ready="collector_started") as collects,
    ):
        assert consuming("beat", beats.pid)
        assert consuming("collector", collects.pid)
    assert not Heartbeat.objects.filter(role__in=["beat", "collector"]).exists()
    ended = dict(Heartbeat.ended.values_list("role", "ended_by"))
    assert ended == {"beat": "stopped by a signal", "collector": "stopped by SIGTERM"}


def test_of_a_worker_it_is_told_how_it_ended(either: OneBroker, tmp_path: Path) -> None:
    """Of one that was killed its successor tells: nobody else knows."""
    command = [*worker_command("sample"), "-n", "w@test"]
    ready = " ready."
    with running(command, log=tmp_path / "first.log", ready=ready, env=either.env) as first:
        rows = Heartbeat.objects.filter(pid=first.pid).filter(wiring__has_key="broker")
        wait_until(rows.exists, what="a heartbeat with its wiring")
        first.kill()
    assert not Heartbeat.ended.exists()
    with running(command, log=tmp_path / "second.log", ready=ready, env=either.env) as second:
        wait_until(Heartbeat.ended.filter(pid=first.pid).exists, what="the end of the first")
        assert consuming("worker", second.pid).name == "w@test"
    ended = dict(Heartbeat.ended.values_list("pid", "ended_by"))
    assert ended == {first.pid: "killed, or crashed", second.pid: "stopped by SIGTERM (warm shutdown)"}


def test_two_workers_with_one_name_have_a_row_each(either: OneBroker, tmp_path: Path) -> None:
    command = [*worker_command("sample"), "-n", "twin@test"]
    with (
        running(command, log=tmp_path / "one.log", ready=" ready.", env=either.env) as one,
        running(command, log=tmp_path / "two.log", ready=" ready.", env=either.env) as other,
    ):
        assert {consuming("worker", process.pid).name for process in (one, other)} == {"twin@test"}
        (found,) = [finding for finding in process_findings() if finding.about.name == "twin@test"]
        assert f"pid {one.pid}" in str(found.found)
        assert f"pid {other.pid}" in str(found.found)


def test_without_their_broker_worker_and_relay_live_and_take_nothing(tmp_path: Path) -> None:
    with Valkey(Path(os.environ["BATON_STATE_DIR"]) / "heartbeats") as valkey:
        env = {"CELERY_BROKER_URL": valkey.start()}
        with (
            running(relay_command(), log=tmp_path / "relay.log", ready="relay_started", env=env) as relays,
            running(worker_command("sample"), log=tmp_path / "worker.log", ready=" ready.", env=env) as works,
        ):
            rows = Heartbeat.objects.filter(pid__in=[relays.pid, works.pid])
            wait_until(lambda: rows.fresh().filter(is_consuming=True).count() == 2, what="two that take work")
            valkey.stop()
            with transaction.atomic():
                publish(Sampled(sample_id=uuid4()))  # an idle relay does not miss its broker
            # Each asks the broker several times before it believes that it is gone: 22 s on an idle machine.
            wait_until(lambda: rows.filter(is_consuming=False).count() == 2, seconds=90, what="two without a broker")
            told = min(rows.values_list("beaten_at", flat=True))
            wait_until(lambda: min(rows.values_list("beaten_at", flat=True)) > told, what="another beat of both")
            valkey.start()
            wait_until(lambda: rows.filter(is_consuming=True).count() == 2, seconds=60, what="both again")
        assert not rows.exists()  # both were told to stop
