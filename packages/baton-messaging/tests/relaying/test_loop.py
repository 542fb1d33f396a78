"""The relay as a process: woken, killed, stopped, cut off."""

import os
import signal
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from baton_dev.testing.deadlock import provoke_deadlock
from baton_dev.testing.processes import Process, relay_command, running, wait_until
from baton_messaging.models import OutboxMessage
from baton_messaging.processes.rounds import LOG_SECONDS
from celery import current_app
from django.db import connection
from django.utils import timezone

from tests.relaying.outbox_and_queue import bundles, place

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def test_a_commit_wakes_an_idle_relay_at_once(relay: Process) -> None:
    place(1)
    wait_until(lambda: not OutboxMessage.objects.waiting().exists(), seconds=10, what="the relay to send")


def test_a_relay_killed_with_9_is_followed_by_another_that_sends_the_rest(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    log = tmp_path_factory.mktemp("relay")
    with running(relay_command(), log=log / "first.log", ready="relay_started") as first:
        place(3000)
        wait_until(lambda: OutboxMessage.objects.exclude(published_at=None).exists(), what="the first batch")
        os.kill(first.pid, signal.SIGKILL)
    OutboxMessage.objects.waiting().update(available_at=timezone.now())  # its lease has ended
    with running(relay_command(), log=log / "second.log", ready="relay_started"):
        wait_until(lambda: not OutboxMessage.objects.waiting().exists(), what="an empty outbox")
    assert len({one for bundle in bundles() for one in bundle}) == 3000


def test_sigterm_ends_the_relay_cleanly(tmp_path_factory: pytest.TempPathFactory) -> None:
    log = tmp_path_factory.mktemp("relay") / "relay.log"
    with running(relay_command(), log=log, ready="relay_started") as process:
        assert process.stop() == 0
        assert "relay_stopped" in process.output()


def test_a_database_restart_is_survived(relay: Process) -> None:
    terminate_sessions()
    place(1)
    wait_until(lambda: not OutboxMessage.objects.waiting().exists(), what="the relay to send")
    assert relay.exit_code is None


def test_a_deadlock_is_survived(relay: Process) -> None:
    provoke_deadlock("baton_circuit", lambda: place(1), then="baton_outbox, baton_attempt")
    wait_until(lambda: "database_in_trouble" in relay.output(), what="the relay to lose")
    wait_until(lambda: not OutboxMessage.objects.waiting().exists(), what="the relay to send")
    assert relay.exit_code is None


def test_a_broker_that_refuses_is_in_the_log_with_its_own_words_and_fills_no_disk(tmp_path: Path) -> None:
    with (
        running(relay_command(), log=tmp_path / "relay.log", ready="relay_started") as relay,
        current_app.connection_for_write() as broker,
        broker.channel() as channel,
    ):
        place(1)
        wait_until(lambda: not OutboxMessage.objects.waiting().exists(), what="the relay to send")
        terminate_sessions()  # what the log has said of the database a moment ago keeps nothing from being said
        wait_until(lambda: "database_in_trouble" in relay.output(), what="the relay to lose its sessions")
        channel.client.replicaof("127.0.0.1", 9)  # a replica of a primary that is not there
        try:
            place(1)
            wait_until(lambda: relay.output().count("broker_away") >= 2, what="the relay to be refused")
        finally:
            channel.client.replicaof("NO", "ONE")
        wait_until(lambda: not OutboxMessage.objects.waiting().exists(), what="the relay to send")
        lines = [line for line in relay.output().splitlines() if "broker_away" in line]
    assert all("condition=read-only" in line and "write against a read only replica" in line for line in lines)
    assert lines[0].endswith("time_count=1")
    times = [datetime.fromisoformat(line.split()[0]) for line in lines]
    assert times[1] - times[0] >= timedelta(seconds=LOG_SECONDS)


def terminate_sessions() -> None:
    """End every session but the tests' own, as a restart of the database does."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
