"""The supervisor, for real: what stops finishes first, and nothing is left behind."""

import re

from baton_dev.testing.processes import wait_until

from tests.supervisor.dummy_run import DUMMY, Start


def test_ctrl_c_lets_programs_finish_and_stops_the_services_last(start: Start) -> None:
    run = start(f"slow: {DUMMY} 1", f"quick: {DUMMY}", CELERY_BROKER_URL="")
    run.wait_for(r"Baton is running")

    run.press_ctrl_c()

    assert run.wait() == 0
    assert run.what_is_left() == []
    output = run.output()
    assert len(re.findall(r"finished", output)) == 2
    assert re.findall(r"(slow|valkey|baton) +\| [Ss]topped", output) == ["slow", "valkey", "baton"]


def test_sigterm_reaches_the_programs_themselves(start: Start) -> None:
    run = start(f"worker: {DUMMY}")
    pid = run.wait_for(r"started \(pid (\d+)\)")
    assert run.wait_for(r"working (\d+)") == pid  # no shell in between

    run.process.terminate()

    assert run.wait() == 0
    run.wait_for(rf"finishing {pid}")
    assert run.what_is_left() == []


def test_a_second_ctrl_c_stops_at_once(start: Start) -> None:
    run = start(f"stuck: {DUMMY} 600")
    run.wait_for(r"Baton is running")
    run.press_ctrl_c()
    run.wait_for(r"finishing \d+")

    wait_until(lambda: run.press_ctrl_c() or run.process.poll() is not None, seconds=60, what="the run to end")  # type: ignore[func-returns-value]

    assert run.what_is_left() == []


def test_a_program_that_does_not_finish_in_time_gets_sigquit(start: Start) -> None:
    run = start(f"stuck: {DUMMY} 600", BATON_DRAIN_SECONDS="1")
    run.wait_for(r"Baton is running")

    run.press_ctrl_c()

    run.wait_for(r"given back to the broker")
    assert run.wait() == 0
    assert "finished" not in run.output()
