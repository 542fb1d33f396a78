"""The bench runs through. Its figures are nobody's test: they depend on who else uses the machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from baton_dev.project import PROJECT_DIR


@pytest.mark.timeout(300)  # starts web, workers and servers of its own
def test_bench_measures_every_side_and_finds_nothing_lost_or_doubled() -> None:
    state_dir = Path(os.environ["BATON_STATE_DIR"]) / "bench"
    arguments = ["--rounds", "1", "--scale", "0.02", "--state-dir", str(state_dir)]
    parts = ["--only", "accept", "consume", "latency"]
    bench = subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments, *parts],
        cwd=PROJECT_DIR,
        env={**os.environ, "DATABASE_URL": "", "CELERY_BROKER_URL": ""},  # it must not touch the tests' own
        capture_output=True,
        text=True,
        check=False,
    )
    assert bench.returncode == 0, bench.stderr
    for title in ("accept:", "consume:", "relay:", "latency:"):
        assert title in bench.stdout
