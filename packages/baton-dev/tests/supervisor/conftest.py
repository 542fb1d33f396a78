"""Runs that are over when their test is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from baton_dev.testing.processes import wait_until

from tests.supervisor.dummy_run import Run, Start


@pytest.fixture
def start(state_dir: Path) -> Iterator[Start]:
    runs: list[Run] = []

    def start_run(*programs: str, **variables: str) -> Run:
        runs.append(Run(state_dir, *programs, **variables))
        return runs[-1]

    state_dir.mkdir(parents=True)
    yield start_run
    for run in runs:
        run.process.kill()
        run.process.wait()
    wait_until(lambda: not any(run.what_is_left() for run in runs), seconds=60, what="everything to end")
