"""A service is a server in the state directory, run as a child of the process that needs it.

A lock file is held by the server itself for as long as any of its processes lives: exec() hands it over. So the lock
says what a pid file cannot: after kill -9 it is free, and no second server is started on the same data.

Hazard: a server ends with the thread that started it (Linux). Start it from a thread that stays.
"""

import fcntl
import os
import secrets
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, ClassVar, Self

from baton_dev.project import PROJECT_DIR
from baton_dev.servers.ports import PortTakenError, free_port, is_taken
from baton_dev.servers.server_user import open_directory
from baton_dev.supervisor.tether import signal_on_parent_death

STOP_TIMEOUT_SECONDS = 15
PREDECESSOR_TIMEOUT_SECONDS = 15  # what is left of a killed run needs a moment to end
POLL_SECONDS = 0.05


class ServiceError(Exception):
    """A server could not be started; the message is one line for the person at the keyboard."""


class Service(ABC):
    """A server with its data, port and lock in one directory.

    `start` and `stop` manage it as a child process; `run` turns the calling process into the server, for supervisors.
    """

    name: ClassVar[str]
    port_variable: ClassVar[str]
    stop_signal: ClassVar[signal.Signals]
    start_timeout_seconds: ClassVar[float] = 60  # PostgreSQL may have to replay its log after a crash

    def __init__(self, state_dir: Path, *, port: int | None = None) -> None:
        self.state_dir = state_dir.resolve()
        self._wanted_port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """Return the address for clients. Known after `prepare`."""

    @property
    def port(self) -> int:
        """Return the remembered port."""
        return int(self._port_file.read_text())

    @property
    def was_prepared(self) -> bool:
        """Tell whether this directory has been used before, so that `url` is known."""
        return self._port_file.exists()

    @abstractmethod
    def destroy(self) -> None:
        """Delete the data, wherever it is. The server must be stopped."""

    @abstractmethod
    def initialise(self) -> None:
        """Create the data where there is none. The lock is held."""

    @abstractmethod
    def become_server(self) -> None:
        """Replace this process by the server. The lock is held."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Tell whether the server answers a client."""

    def choose_port(self) -> None:
        """Take the wanted port, the remembered one or a new one; so that `url` is known. Repeating it is harmless."""
        with self._locked():
            self._choose_port()

    def prepare(self) -> None:
        """Choose the port and create the data, so that `run` will do. Repeating it is harmless."""
        with self._locked():
            self._choose_port()
            self.initialise()

    def run(self) -> None:
        """Become the server. Returns never."""
        with self._locked() as lock:
            self.initialise()
            os.set_inheritable(lock.fileno(), True)
            self.become_server()

    def start(self) -> str:
        """Start the server unless this object already did, wait until it answers, return its URL."""
        if self._process is None or self._process.poll() is not None:
            self.prepare()
            self._process = self._spawn()
            self._wait_until_ready(self._process)
        return self.url

    def stop(self) -> None:
        """Stop the server if this object started it; its data stays."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            self._process.send_signal(self.stop_signal)
        try:
            self._process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def tie_to_parent(self) -> None:
        """Let the server stop in good order when its parent is killed."""
        signal_on_parent_death(self.stop_signal)

    @property
    def command(self) -> list[str]:
        """Return the command line that becomes the server, to be run in the project directory after `prepare`."""
        return [sys.executable, "-m", "baton_dev.servers.embedded", self.name, str(self.state_dir)]

    @property
    def log_file(self) -> Path:
        """Return where `start` sends what the server says."""
        return self.state_dir / "log" / f"{self.name}.log"

    @property
    def _port_file(self) -> Path:
        return self.state_dir / f"{self.name}.port"

    def _choose_port(self) -> None:
        if self._wanted_port is not None:
            if is_taken(self._wanted_port):
                raise PortTakenError(variable=self.port_variable, port=self._wanted_port)
            self._port_file.write_text(str(self._wanted_port))
        elif not self._port_file.exists() or is_taken(self.port):
            self._port_file.write_text(str(free_port(seed=str(self._port_file))))

    @contextmanager
    def _locked(self) -> Iterator[IO[str]]:
        open_directory(self.state_dir)
        deadline = time.monotonic() + PREDECESSOR_TIMEOUT_SECONDS
        with (self.state_dir / f"{self.name}.lock").open("a+") as lock:
            while not try_lock(lock):
                if time.monotonic() > deadline:
                    raise ServiceError(self._already_running(lock))
                time.sleep(POLL_SECONDS)
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield lock

    def _already_running(self, lock: IO[str]) -> str:
        lock.seek(0)
        return (
            f"{self.name} already runs on the data in {self.state_dir} (process {lock.read()}). "
            "Stop the other run first, or set BATON_STATE_DIR to another directory."
        )

    def _spawn(self) -> subprocess.Popen[bytes]:
        self.log_file.parent.mkdir(exist_ok=True)
        with self.log_file.open("wb") as log:
            # A group of its own: Ctrl-C in the terminal is for the parent, which then stops the server last.
            return subprocess.Popen(self.command, cwd=PROJECT_DIR, stdout=log, stderr=log, process_group=0)

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self.start_timeout_seconds
        while not self.is_ready():
            if process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                lines = self.log_file.read_text(errors="replace").strip().splitlines()
                reason = lines[-1] if lines else "it said nothing"
                raise ServiceError(f"{self.name} did not start: {reason} (log: {self.log_file})")
            time.sleep(POLL_SECONDS)


def kept_password(path: Path) -> str:
    """Return the password in a file that only its owner may read, made when there is none."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(24))
    return path.read_text()


def try_lock(lock: IO[str]) -> bool:
    """Take the lock on an open file if nobody has it; it is held until the file is closed everywhere."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
