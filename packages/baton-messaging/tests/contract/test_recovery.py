"""How long until the message of a worker killed with -9 runs elsewhere, with the timeouts that the project ships."""

from collections.abc import Callable

import pytest

# 35 s and none are promised, without the start of a task and a machine that stands still.
MAX_SECONDS = {"valkey": 50.0, "rabbitmq": 20.0}


@pytest.mark.parametrize("name", MAX_SECONDS)
def test_message_of_a_killed_worker_runs_elsewhere_in_time(
    recovery_seconds: Callable[[str], float], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = recovery_seconds(name)

    with capsys.disabled():
        print(f"\n{name}: message of a worker killed with -9 ran elsewhere after {seconds:.1f} s")
    assert seconds <= MAX_SECONDS[name]
