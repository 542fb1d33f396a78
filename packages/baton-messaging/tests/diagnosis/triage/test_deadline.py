"""Who has waited for a command to start waits less for the queues to be read."""

import subprocess
import sys
import time

import pytest
from baton_dev.project import PROJECT_DIR
from baton_messaging.diagnosis.triage.gather.deadline import (
    MIN_SEARCH_SECONDS,
    SEARCH_SECONDS,
    age_of_process_seconds,
    deadline_after,
    search_seconds,
)
from baton_messaging.management.commands import triage
from django.core.management import call_command


@pytest.mark.parametrize(
    ("waited", "left"), [(0, SEARCH_SECONDS), (0.9, SEARCH_SECONDS), (1.2, 0.3), (1.5, MIN_SEARCH_SECONDS), (30, 0.1)]
)
def test_what_the_start_took_is_taken_from_the_reading(waited: float, left: float) -> None:
    with deadline_after(waited):
        assert search_seconds() == pytest.approx(left)
    assert search_seconds() == SEARCH_SECONDS


def test_a_process_knows_how_old_it_is() -> None:
    code = (
        "import time; time.sleep(0.3); from baton_messaging.diagnosis.triage.gather import deadline;"
        " print(deadline.age_of_process_seconds())"
    )
    started = time.monotonic()
    young = subprocess.run([sys.executable, "-c", code], cwd=PROJECT_DIR, capture_output=True, text=True, check=True)
    assert 0.28 <= float(young.stdout) <= time.monotonic() - started + 0.05
    assert age_of_process_seconds() > float(young.stdout)


def test_only_a_shell_has_waited_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    left = []
    monkeypatch.setattr(triage.Command, "handle", lambda *_args, **_options: left.append(search_seconds()))
    monkeypatch.setattr(triage, "age_of_process_seconds", lambda: 1.2)
    call_command("triage", "1")
    triage.Command().run_from_argv(["manage.py", "triage", "1"])
    assert left == [SEARCH_SECONDS, pytest.approx(0.3)]
