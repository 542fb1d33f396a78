"""What real processes are wired to, as they say it, and how they are compared: on both brokers."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import kombu
import psycopg
import pytest
import redis
from baton_dev.servers.embedded import Valkey
from baton_dev.testing.processes import (
    Process,
    relay_command,
    running,
    url_of_test_database,
    wait_until,
    worker_command,
)
from baton_dev.testing.shared_processes import end_all_but
from baton_messaging.broker import client_name
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.models import Heartbeat
from baton_messaging.processes import introduction
from baton_messaging.processes.broker_consumers import named_clients, unknown_consumers
from baton_messaging.processes.comparison import wiring_differences
from celery import current_app
from django.conf import settings
from django.db import connection

from tests.processes.conftest import OneBroker
from tests.sample.events import Sampled


@pytest.fixture(autouse=True)
def nobody_else() -> None:
    """End the processes that tests share: without the heartbeats of before they would be found here, too."""
    end_all_but(())


pytestmark = pytest.mark.django_db(transaction=True)


def wired(process: Process) -> Heartbeat:
    rows = Heartbeat.objects.filter(pid=process.pid, wiring__has_key="broker")
    found: Heartbeat = wait_until(lambda: rows.all().first(), what="a heartbeat with its wiring")
    return found


@contextmanager
def two(either: OneBroker, folder: Path, **env_of_second: str) -> Iterator[tuple[Heartbeat, Heartbeat]]:
    """Run a worker, and another one with an environment of its own."""
    own = {**either.env, **env_of_second}
    with (
        running(worker_command("sample"), log=folder / "first.log", ready=" ready.", env=either.env) as first,
        running(worker_command("sample", "parcels"), log=folder / "second.log", ready=" ready.", env=own) as second,
    ):
        yield wired(first), wired(second)


def findings() -> list[Diagnosis]:
    return [one for one in wiring_differences() if one.status is Status.FINDING]


def test_processes_that_are_wired_alike_are_no_finding(either: OneBroker, tmp_path: Path) -> None:
    with (
        two(either, tmp_path) as (first, second),
        running(relay_command(), log=tmp_path / "relay.log", ready="relay_started", env=either.env) as relay,
    ):
        for row in (first, second, wired(relay)):
            assert row.wiring["broker"]["id"]
            assert row.wiring["broker"]["address"].partition("/")[0] in either.url
            assert row.wiring["database"]["id"].endswith(connection.settings_dict["NAME"])
            assert row.wiring["database"]["in_recovery"] is False
            assert row.clock_offset_seconds is not None
            assert abs(row.clock_offset_seconds) < 1
            assert settings.SECRET_KEY not in json.dumps(row.wiring)
        assert wiring_differences() == []
        with either.connection() as broker:
            assert unknown_consumers(broker, 1.0) == []


def test_a_worker_with_another_key_is_named_and_says_so_itself(either: OneBroker, tmp_path: Path) -> None:
    with (
        two(either, tmp_path, DJANGO_SECRET_KEY=50 * "other") as (first, second),
        running(relay_command(), log=tmp_path / "relay.log", ready="relay_started", env=either.env) as relay,
    ):
        wired(relay)
        (one,) = findings()
        assert one.about.name == second.name
        assert one.stops_work
        assert str(one.remedy).startswith(f"Give {second.name} the same DJANGO_SECRET_KEY as ")
        assert first.name in str(one.remedy)
        assert one.owner == settings.BATON["QUEUES"][0].owner

        def said() -> bool:
            return any("wired_differently" in log.read_text() for log in tmp_path.glob("*.log"))

        wait_until(said, what="a warning in a log")


def test_a_worker_of_another_database_is_found_at_the_broker(either: OneBroker, tmp_path: Path) -> None:
    head, _slash, _name = url_of_test_database().rpartition("/")
    with psycopg.connect(f"{head}/postgres", autocommit=True) as server:
        name = f"staging_{uuid4().hex[:8]}"
        server.execute(f"CREATE DATABASE {name}")
        try:
            command = worker_command("sample")
            env = {**either.env, "DATABASE_URL": f"{head}/{name}"}
            with (
                running(worker_command("parcels"), log=tmp_path / "ours.log", ready=" ready.", env=either.env) as ours,
                running(command, log=tmp_path / "staging.log", ready=" ready.", env=env) as staging,
                either.connection() as broker,
            ):
                wired(ours)

                def found() -> Any:
                    return unknown_consumers(broker, 1.0)

                (one,) = wait_until(found, what="a consumer that is unknown here")
                assert f"pid {staging.pid}" in str(one.found)
                assert f"its database is {name}@" in str(one.found)
                assert "sample" in str(one.found)
                assert one.stops_work
                with running(worker_command("mails"), log=tmp_path / "new.log", ready=" ready.", env=either.env) as new:
                    wait_until(lambda: name in new.output(), what="a warning of a process that starts")
                    assert "wired_differently" in new.output()
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_relay_on_another_broker_is_named(tmp_path: Path) -> None:
    """Whichever broker is asked from: rows tell."""
    with Valkey(Path(os.environ["BATON_STATE_DIR"]) / "another") as another:
        env = {"CELERY_BROKER_URL": another.start()}
        with (
            running(worker_command("sample"), log=tmp_path / "one.log", ready=" ready.") as one,
            running(worker_command("parcels"), log=tmp_path / "two.log", ready=" ready.") as two_,
            running(relay_command(), log=tmp_path / "relay.log", ready="relay_started", env=env) as relay,
        ):
            wired(one), wired(two_)
            wired(relay)
            (found,) = wait_until(findings, what="a difference")
            assert found.about.name == wired(relay).name
            assert str(another.port) in str(found.found)
            assert found.stops_work


def test_who_asks_is_no_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_name, "_introduced", [])
    client_name.introduce("relay", "relay@test", database=introduction.database_address())
    with current_app.connection_for_write() as broker, current_app.connection_for_write() as own:
        own.default_channel.client.ping()
        wait_until(lambda: age_of(broker, "relay") >= 2, what="a connection that is not new")
        assert unknown_consumers(broker, 1.0) == []


def test_a_child_that_publishes_is_no_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_name, "_introduced", [])
    monkeypatch.setattr(introduction, "_introduced", [("worker", "w@test")])
    monkeypatch.setattr(introduction, "name_connections", lambda *_: None)
    introduction.introduce_child()
    with current_app.connection_for_write() as broker, current_app.connection_for_write() as child:
        child.default_channel.client.ping()
        wait_until(lambda: age_of(broker, "worker-child") >= 2, what="a connection that is not new")
        assert unknown_consumers(broker, 1.0) == []


def age_of(broker: kombu.Connection, role: str) -> int:
    return max((int(told["age"]) for name, told in named_clients(broker) if name.role == role), default=0)


def test_a_plain_client_that_takes_messages_is_found() -> None:
    # No connection of kombu's: ours carry the name of their process, whichever a test has given it.
    with current_app.connection_for_write() as broker, redis.from_url(os.environ["CELERY_BROKER_URL"]) as client:
        taking = client.connection_pool.get_connection()
        taking.send_command("BRPOP", "whatever", 0)  # for as long as it takes to be found

        def is_found() -> bool:
            return any("BRPOP" in str(one.found) for one in unknown_consumers(broker, 1.0))

        wait_until(is_found, what="a client that takes")
        taking.disconnect()


def test_connections_to_the_database_carry_the_names_of_process_and_child(tmp_path: Path) -> None:
    valkey = OneBroker(os.environ["CELERY_BROKER_URL"])
    command = [*worker_command("sample"), "-n", "w@test"]  # short: the tests' own name comes before it
    with running(command, log=tmp_path / "w.log", ready=" ready.") as worker:
        valkey.send(Sampled(sample_id=uuid4(), seconds=3))
        busy = Heartbeat.objects.filter(pid=worker.pid, running__0__isnull=False)
        row: Heartbeat = wait_until(lambda: busy.all().first(), what="a message that runs")
        with connection.cursor() as cursor:
            cursor.execute("SELECT application_name FROM pg_stat_activity")
            names = {name for (name,) in cursor.fetchall()}
        assert f"test process {worker.pid} baton worker w@test {row.running[0]['pid']}" in names
