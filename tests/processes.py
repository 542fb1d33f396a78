"""Real processes for tests: workers and relays as users run them, pointed at the test database."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

from config.local.tether import tethered

ROOT = Path(__file__).resolve().parent.parent


def wait_until(condition: Callable[[], object], *, seconds: float = 30, what: str = "the condition") -> None:
    """Poll a condition until it holds; fail with ``what`` when the deadline passes."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"Expected {what} within {seconds} s, and it did not come.")
        time.sleep(0.05)


def wait_until_database_is_idle() -> None:
    """Wait until no other connection has a transaction: emptying the tables would get into a deadlock with it."""
    statement = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'"
    )

    def is_idle() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return bool(cursor.fetchone() == (0,))

    wait_until(is_idle, seconds=30, what="the end of all transactions")


class Process:
    """A child process in its own process group, its output kept in a file."""

    def __init__(self, command: Sequence[str], *, log: Path, env: dict[str, str] | None = None) -> None:
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                # Tied to us: a test run that is killed must leave no worker behind that takes the next run's messages.
                tethered(command, signal.SIGKILL),
                cwd=ROOT,
                env={**_environment(), **(env or {})},
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for_output(self, text: str, *, seconds: float = 40) -> None:
        def said_or_died() -> bool:
            return text in self.output() or self.exit_code is not None

        wait_until(said_or_died, seconds=seconds, what=f"{text!r} from the process, which printed:\n{self.output()}")
        assert text in self.output(), self.output()

    def kill(self) -> None:
        """Kill -9 the whole group: the process and its children, as a machine that goes down does."""
        self._signal(signal.SIGKILL)

    def send(self, signum: int) -> None:
        """Send a signal to the process itself, not to its children."""
        if self.exit_code is None:
            os.kill(self.pid, signum)

    def stop(self, *, seconds: float = 30) -> int:
        """SIGTERM, and SIGKILL when that takes too long; return the exit code."""
        self.send(signal.SIGTERM)
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL
        finally:
            self._signal(signal.SIGKILL)
            self._process.wait()

    def _signal(self, signum: int) -> None:
        try:
            os.killpg(self.pid, signum)
        except ProcessLookupError:
            return
        if signum == signal.SIGKILL:
            self._process.wait()


@contextmanager
def running(command: Sequence[str], *, log: Path, ready: str, env: dict[str, str] | None = None) -> Iterator[Process]:
    """Run a process, wait until it says it is ready, and stop it at the end."""
    process = Process(command, log=log, env=env)
    try:
        process.wait_for_output(ready)
        yield process
    finally:
        process.stop()


def worker_command(*queues: str, app: str = "config", concurrency: int = 2) -> list[str]:
    """Return the command of a worker for some queues."""
    options = ["-Q", ",".join(queues), "-c", str(concurrency), "-n", f"{'-'.join(queues)}-{time.monotonic_ns()}@test"]
    return [sys.executable, "-m", "celery", "-A", app, "worker", "-l", "INFO", "--without-mingle", *options]


def manage_command(*words: str) -> list[str]:
    """Return the command of a management command."""
    return [sys.executable, "manage.py", *words]


def _environment() -> dict[str, str]:
    return {**os.environ, "DATABASE_URL": url_of_test_database(), "PYTHONUNBUFFERED": "1"}


def url_of_test_database() -> str:
    head, _slash, _name = os.environ["DATABASE_URL"].rpartition("/")
    return f"{head}/{connection.settings_dict['NAME']}"
