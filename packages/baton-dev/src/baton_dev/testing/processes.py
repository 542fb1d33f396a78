"""Processes of the tests run as users run them: workers and relays, pointed at the test database."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeVar

from django.conf import settings
from django.db import connection

from baton_dev.project import PROJECT_DIR
from baton_dev.supervisor.tether import tethered
from baton_dev.testing.forkserver import forked

SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.02, 0.25
Found = TypeVar("Found")


def wait_until(condition: Callable[[], Found | None], *, seconds: float = 30, what: str = "the condition") -> Found:
    """Poll a condition until it holds, and return what it found; fail with ``what`` when the deadline passes.

    The longer it takes the less often: what is waited for needs the processor that the polling takes. Only a look that
    began after the deadline is the last one: the machine may have stood still since the one before.
    """
    started = time.monotonic()
    while True:
        waited = time.monotonic() - started
        if found := condition():
            return found
        if waited > seconds:
            raise AssertionError(f"Expected {what} within {seconds} s, and it did not come.")
        time.sleep(min(max(waited / 10, SHORTEST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS))


class Handle(Protocol):
    """What the system knows of a process."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...


Start = Callable[[Sequence[str], Path, dict[str, str]], Handle]


def alone(command: Sequence[str], log: Path, environment: dict[str, str]) -> Handle:
    """Start any program, as the shell does: one that sees to its own environment, or is none of the project's."""
    with log.open("ab") as out:
        return subprocess.Popen(
            # Tied to us: a test run that is killed must leave no worker behind that takes the next run's messages.
            tethered(command, signal.SIGKILL),
            cwd=PROJECT_DIR,
            env=environment,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


#: All that were started by this test run.
started: list["Process"] = []


class Process:
    """A process of the project in a process group of its own, its output kept in a file."""

    def __init__(
        self, command: Sequence[str], *, log: Path, env: dict[str, str] | None = None, start: Start = forked
    ) -> None:
        self.log = log
        log.touch()
        self._handle = start(command, log, {**process_environment(), **(env or {})})
        started.append(self)

    @property
    def pid(self) -> int:
        return self._handle.pid

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._handle.poll()

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for_output(self, text: str, *, seconds: float = 40) -> None:
        def said_or_died() -> bool:
            return text in self.output() or self.exit_code is not None

        with suppress(AssertionError):
            wait_until(said_or_died, seconds=seconds)
        assert text in self.output(), f"Expected {text!r} within {seconds} s, got:\n{self.output()}"

    def wait(self, *, seconds: float = 30) -> int:
        """Wait for its end; return the exit code."""
        wait_until(lambda: self.exit_code is not None, seconds=seconds, what=f"the end of process {self.pid}")
        assert self.exit_code is not None
        return self.exit_code

    def kill(self) -> None:
        """Kill -9 the whole group: the process and its children, as a machine that goes down does."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()

    def send(self, signum: int) -> None:
        """Send a signal to the process itself, not to its children."""
        if self.exit_code is None:
            os.kill(self.pid, signum)

    def stop(self, *, seconds: float = 30) -> int:
        """SIGTERM, and SIGKILL when that takes too long; return the exit code."""
        self.send(signal.SIGTERM)
        with suppress(AssertionError):
            self.wait(seconds=seconds)
        self.kill()
        return self.exit_code or 0


@contextmanager
def running(
    command: Sequence[str], *, log: Path, ready: str, env: dict[str, str] | None = None, start: Start = forked
) -> Iterator[Process]:
    """Run a process, wait until it says it is ready, and stop it at the end."""
    process = Process(command, log=log, env=env, start=start)
    try:
        process.wait_for_output(ready)
        yield process
    finally:
        process.stop()


def worker_command(*queues: str, app: str = "", concurrency: int = 2) -> list[str]:
    """Return the command of a worker for some queues."""
    options = ["-Q", ",".join(queues), "-c", str(concurrency), "-n", f"{'-'.join(queues)}-{time.monotonic_ns()}@test"]
    return [
        sys.executable,
        "-m",
        "celery",
        "--skip-checks",
        "-A",
        app or settings.TEST_APPLICATION,
        "worker",
        "-l",
        "INFO",
        "--without-mingle",
        *options,
    ]


def manage_command(*words: str) -> list[str]:
    """Return the command of a management command."""
    program = ["manage.py"] if (PROJECT_DIR / "manage.py").exists() else ["-m", "django"]
    return [sys.executable, *program, *words]


def relay_command() -> list[str]:
    """Return the command of a relay; without system checks, which take longer than all else that a fork does."""
    return manage_command("relay", "--skip-checks")


def collector_command() -> list[str]:
    """Return the command of a collector of dead letters; without system checks, as above."""
    return manage_command("collect_dead_letters", "--skip-checks")


def process_environment() -> dict[str, str]:
    return {**os.environ, "DATABASE_URL": url_of_test_database(), "PYTHONUNBUFFERED": "1"}


def url_of_test_database() -> str:
    head, _slash, _name = os.environ["DATABASE_URL"].rpartition("/")
    return f"{head}/{connection.settings_dict['NAME']}"
