"""Pytest plugin: record which tests failed, for `again.py` to run each once more, alone.

`again.py` loads it with `-p record_failures` and names the file in BATON_FAILURES_FILE. What no single test can be
blamed for is recorded as broken: a second run of some tests would not tell whether it is well.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Recorder:
    """Writes a record at the beginning, so that pytest's sudden death can be told from its end, and one at the end."""

    def __init__(self, config: pytest.Config, file: Path) -> None:
        self.config = config
        self.file = file
        self.session: pytest.Session | None = None
        self.failed: dict[str, None] = {}  # a set that keeps its order
        self.seen: set[str] = set()
        self.passed = 0
        self.crashes = 0  # of processes of pytest-xdist, less those that are blamed on a test
        self.broken = ["a suite may run pytest only once"] if file.exists() else []
        self.write([*self.broken, "pytest did not end by itself"])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of a test that passed or failed, or whose set-up or tear-down failed."""
        self.seen.add(report.nodeid)
        if report.failed:
            self.failed[report.nodeid] = None
        self.passed += report.passed and report.when == "call" and not hasattr(report, "wasxfail")
        self.crashes -= str(report.when) == "???"  # pytest-xdist made it up, for the test that a process died of

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take note of a file whose tests are unknown."""
        if report.failed:
            self.broken.append(f"collection failed: {report.nodeid}")

    def pytest_internalerror(self) -> None:
        """Take note of an error in pytest, or in one of its processes; the others may go on."""
        self.broken.append("internal error")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: Any) -> None:
        """Take note of the death of a process."""
        self.crashes += bool(error)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep the session: its exit status may still change."""
        self.session = session

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_unconfigure(self) -> Iterator[None]:
        """Write the record after everything else has ended well."""
        yield
        if self.session is None:
            return
        if self.crashes > 0:
            self.broken.append("a process died, and not of a test")
        if not self.broken and len(self.seen) < self.session.testscollected:
            self.broken.append(f"only {len(self.seen)} of {self.session.testscollected} tests ran")
        self.write(self.broken)

    def write(self, broken: list[str]) -> None:
        """Write what is known, and how to run a test of this suite."""
        record = {
            "python": sys.executable,
            "folder": str(self.config.invocation_params.dir),
            "root": str(self.config.rootpath),
            "ini": str(self.config.inipath or ""),
            "options": ["-n0"] if hasattr(self.config.option, "numprocesses") else [],
            "exit": None if self.session is None else int(self.session.exitstatus),
            "passed": self.passed,
            "failed": list(self.failed),
            "broken": broken,
        }
        self.file.write_text(json.dumps(record))


def pytest_configure(config: pytest.Config) -> None:
    """Record, but not in what this process starts, be it for pytest-xdist or for a test: that lacks the variable."""
    if file := os.environ.pop("BATON_FAILURES_FILE", None):
        config.pluginmanager.register(Recorder(config, Path(file)))
