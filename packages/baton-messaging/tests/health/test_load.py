"""A machine whose processors are fought for makes servers and askers late, and nobody is blamed for that."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from baton_messaging.health.condition import Condition
from baton_messaging.health.run import run_checks

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 5
BUSY_COUNT = 16
UNBLAMED = (Condition.OK, Condition.NOT_KNOWN)


@pytest.fixture
def _busy_machine() -> Iterator[None]:
    computing = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_COUNT)]
    yield
    for process in computing:
        process.kill()
        process.wait()


@pytest.mark.usefixtures("_busy_machine")
@pytest.mark.parametrize("deadline_seconds", [1.1, 2.0])  # of triage, and of doctor and ``alive``
def test_no_server_is_blamed_for_a_busy_machine(deadline_seconds: float) -> None:
    for _ in range(ROUNDS):
        found = run_checks(["database", "broker"], deadline_seconds=deadline_seconds)
        assert all(one.condition in UNBLAMED for one in found), found
