"""The supervisor, for real: what dies comes back, and nothing is left behind."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest
import redis
from baton_dev.servers.embedded import Valkey
from baton_dev.testing.processes import wait_until

from tests.supervisor.dummy_run import DUMMY, Start


def test_a_program_that_is_killed_is_started_again(start: Start) -> None:
    run = start(f"worker: {DUMMY}")
    first = run.wait_for(r"worker +\| working (\d+)")

    os.kill(int(first), signal.SIGKILL)

    run.wait_for(r"worker +\| working \d+", times=2)
    run.wait_for(r"worker +\| was killed by SIGKILL; it is started again")


def test_a_program_that_keeps_dying_is_never_given_up(start: Start) -> None:
    run = start(f"broken: {sys.executable} -c 'raise SystemExit(\"no database\")'", f"worker: {DUMMY}")

    run.wait_for(r"broken +\| keeps failing; next try in", times=2)
    run.wait_for(r"broken +\| no database", times=4)
    run.wait_for(r"broken +\| ended with exit status 1")
    assert len(re.findall(r"worker +\| started", run.output())) == 1


@pytest.mark.parametrize("victim", ["run", "supervisor"])
def test_nothing_is_left_when_a_parent_is_killed(start: Start, victim: str) -> None:
    run = start(f"worker: {DUMMY}", CELERY_BROKER_URL="")
    run.wait_for(r"Baton is running")
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split()

    os.kill(run.process.pid if victim == "run" else int(children[0]), signal.SIGKILL)

    assert run.wait() == (-signal.SIGKILL if victim == "run" else 1)
    wait_until(lambda: not run.what_is_left(), seconds=30, what=f"everything to end, but left is {run.what_is_left()}")
    again = start(f"worker: {DUMMY}", CELERY_BROKER_URL="")
    again.wait_for(r"Baton is running")


def test_a_killed_broker_comes_back_with_its_messages(start: Start) -> None:
    run = start(f"worker: {DUMMY}", CELERY_BROKER_URL="")
    run.wait_for(r"Baton is running")
    client = redis.Redis.from_url(Valkey(run.state_dir, with_password=True).url)
    client.set("order", "accepted")

    os.kill(int(run.wait_for(r"valkey +\| started \(pid (\d+)\)")), signal.SIGKILL)

    run.wait_for(r"valkey +\| started", times=2)
    wait_until(lambda: _get(client) == b"accepted", what="the message")


def test_a_second_run_in_the_same_directory_is_refused_in_one_line(start: Start) -> None:
    run = start(f"worker: {DUMMY}")
    run.wait_for(r"worker +\| working")

    second = start(f"worker: {DUMMY}")

    assert second.wait() == 2
    assert re.fullmatch(rf"Baton already runs here \(process {run.process.pid}\)\..*\n", second.output())


def _get(client: redis.Redis) -> object:
    try:
        return client.get("order")
    except redis.ConnectionError:
        return None
