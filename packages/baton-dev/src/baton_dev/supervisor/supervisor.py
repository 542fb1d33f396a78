"""A supervisor keeps the programs of the Procfile running under supervisord, and stops them in good order.

What dies is started again: at once when it had been up for a while, after 1, 2, 3 … seconds when it dies young, and
every RETRY_SECONDS from then on; nothing is ever given up. On the way down the programs go first and together, each
with time to finish what it holds; the services that they need go last.

Programs are tied to supervisord and supervisord to us (tether.py), so kill -9 of either leaves nothing behind.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from xmlrpc.client import Error as ProtocolError
from xmlrpc.client import ServerProxy

from supervisor.xmlrpc import SupervisorTransport

from baton_dev.supervisor.configuration import PROGRAMS, SERVICES, configuration
from baton_dev.supervisor.procfile import Program
from baton_dev.supervisor.tether import tethered

RETRY_SECONDS = 15
GRACE_SECONDS = 30  # from "give back what you hold" (SIGQUIT) to SIGKILL; above Celery's soft shutdown timeout
START_SECONDS = 20  # for supervisord to answer; it takes less than one on an idle machine
POLL_SECONDS = 0.05
MAX_SOCKET_BYTES = 95  # Linux allows 107 for a path, of which supervisord adds a dot and its pid for a moment

UNREACHABLE = (OSError, HTTPException, ProtocolError)


class SupervisorError(Exception):
    """Supervisord did not start; the message is one line for the person at the keyboard."""


@dataclass(frozen=True)
class Running:
    """A process of the supervisor, as it is now. `pid` is 0 while it does not run."""

    name: str
    group: str
    pid: int
    state: str


class Supervisor:
    """A supervisord of our own, with its configuration in the state directory."""

    def __init__(
        self, state_dir: Path, *, programs: Iterable[Program], services: Iterable[Program], drain_seconds: int
    ) -> None:
        self.log_dir = state_dir / "log"
        self._config_file = state_dir / "supervisord.conf"
        self._socket = state_dir / "supervisor.sock"
        self._socket_dir: tempfile.TemporaryDirectory[str] | None = None
        groups = {PROGRAMS: tuple(programs), SERVICES: tuple(services)}
        self._groups = {name: members for name, members in groups.items() if members}
        self._stop_seconds = drain_seconds + GRACE_SECONDS
        self._process: subprocess.Popen[bytes] | None = None
        self._failed_at: dict[str, float] = {}
        self._last_seen: tuple[Running, ...] = ()

    def start(self, *, directory: Path, environment: Mapping[str, str]) -> None:
        """Start supervisord and the services. The programs wait for `start_programs`."""
        self.log_dir.mkdir(parents=True, exist_ok=True)
        if len(os.fsencode(self._socket)) > MAX_SOCKET_BYTES:
            self._socket_dir = tempfile.TemporaryDirectory(prefix="baton-")
            self._socket = Path(self._socket_dir.name) / self._socket.name
        self._config_file.write_text(
            configuration(self._groups, log_dir=self.log_dir, socket=self._socket, stop_seconds=self._stop_seconds)
        )
        command = [sys.executable, "-m", "supervisor.supervisord", "-n", "-s", "-c", str(self._config_file)]
        # A session of its own: Ctrl-C and a closed terminal are for us alone, who then stop all in good order.
        self._process = subprocess.Popen(
            tethered(command), cwd=directory, env=dict(environment), start_new_session=True, stdin=subprocess.DEVNULL
        )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if not self.is_alive() or time.monotonic() > deadline:
                self.kill()
                raise SupervisorError(f"supervisord did not start; see {self.log_dir / 'supervisord.log'}")
            time.sleep(POLL_SECONDS)

    def start_programs(self) -> None:
        """Start what the Procfile lists."""
        self._call("startProcessGroup", PROGRAMS, False)

    def is_alive(self) -> bool:
        """Tell whether supervisord itself runs."""
        return self._process is not None and self._process.poll() is None

    def processes(self) -> tuple[Running, ...]:
        """Return all processes, as they were last seen while supervisord is too busy to answer."""
        with suppress(*UNREACHABLE):
            found: list[Any] = self._call("getAllProcessInfo")
            self._last_seen = tuple(
                Running(info["name"], info["group"], info["pid"], info["statename"]) for info in found
            )
        return self._last_seen

    def revive(self) -> None:
        """Start again what supervisord has given up. To be called every second or so."""
        now = time.monotonic()
        for process in self.processes():
            if process.state != "FATAL":
                self._failed_at.pop(process.name, None)
            elif now - self._failed_at.setdefault(process.name, now) >= RETRY_SECONDS:
                del self._failed_at[process.name]
                self._call("startProcess", f"{process.group}:{process.name}", False)

    def stop_programs(self) -> None:
        """Ask all programs to finish what they hold and end. Returns at once."""
        with suppress(*UNREACHABLE):
            self._call("stopProcessGroup", PROGRAMS, False)

    def stop_services(self) -> None:
        """Stop the services and supervisord itself. Returns at once."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    def remaining_programs(self) -> tuple[Running, ...]:
        """Return the programs that still run."""
        return tuple(process for process in self.processes() if process.group == PROGRAMS and is_running(process.pid))

    def anything_runs(self) -> bool:
        """Tell whether supervisord or anything that it ran is still there."""
        return self.is_alive() or any(is_running(process.pid) for process in self._last_seen)

    def signal_programs(self, number: signal.Signals) -> None:
        """Send a signal to all programs that still run."""
        for process in self.remaining_programs():
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)

    def kill(self) -> None:
        """Make sure that supervisord is gone. What it ran and has not stopped gets SIGTERM by its death."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """Remove what was made outside the state directory."""
        if self._socket_dir is not None:
            self._socket_dir.cleanup()

    def _answers(self) -> bool:
        try:
            self._call("getState")
        except UNREACHABLE:
            return False
        return True

    def _call(self, method: str, *arguments: Any) -> Any:
        transport = SupervisorTransport(None, None, f"unix://{self._socket}")  # type: ignore[no-untyped-call]
        with ServerProxy("http://supervisor", transport=transport) as server:
            return getattr(server.supervisor, method)(*arguments)


def is_running(pid: int) -> bool:
    """Tell whether a process of ours exists; pid 0 stands for none."""
    if pid == 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
