"""Checks run beside the work all day: they leave nothing open, and cost little."""

import os
import threading
import time
from pathlib import Path

import pytest
import redis
from baton_dev.testing.processes import wait_until
from baton_messaging.health.condition import Condition
from baton_messaging.health.registry import check_names
from baton_messaging.health.run import run_checks
from django.db import connections

from tests.health.conftest import silent_server

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 10
#: Seconds of processor time of one round of all checks: a process that asks each minute spends a thousandth of it.
MAX_PROCESSOR_SECONDS = 0.06


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_rounds_of_all_checks_leave_no_thread_file_or_connection(empty_broker: None) -> None:
    run_checks(deadline_seconds=10)  # imports and caches
    files, threads = open_files(), threading.active_count()
    with redis.Redis.from_url(os.environ["CELERY_BROKER_URL"]) as client:
        clients = len(client.client_list())
        keys = set(client.keys())
        for _ in range(ROUNDS):
            found = run_checks(deadline_seconds=10)
            assert {one.name: one.condition for one in found} == dict.fromkeys(check_names(), Condition.OK)
        wait_until(lambda: len(client.client_list()) <= clients, what="the end of the connections")
        left = set(client.keys()) - keys
        assert all(key.startswith(b"_baton.notify.baton.health.") for key in left)
    assert threading.active_count() <= threads
    wait_until(lambda: open_files() <= files + 1, what="the end of all files")


def test_a_round_costs_little_processor_time() -> None:
    run_checks(deadline_seconds=10)
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        run_checks(deadline_seconds=10)
        rounds.append(time.process_time() - started)

    assert min(rounds) < MAX_PROCESSOR_SECONDS


def test_server_that_hangs_holds_few_threads_however_often_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    before = threading.active_count()
    with silent_server() as port:
        monkeypatch.setitem(connections.settings["default"], "PORT", port)
        for _ in range(ROUNDS):
            (health,) = run_checks(["database"], deadline_seconds=0.3)
            assert not {*health.facts} - {"not_heard"}
        assert threading.active_count() - before <= ROUNDS + 1  # each ends with its own time-out
        wait_until(lambda: threading.active_count() <= before, what="the end of the threads", seconds=20)
