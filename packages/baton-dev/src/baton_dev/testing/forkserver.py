"""Processes of the tests, forked off servers that have done their imports.

A worker of the project needs two seconds of processor time until it is ready, nearly all of it for imports; the tests
start hundreds. Forked off a process that has done them, it needs a tenth. What runs is the same: the same program with
the same arguments and environment, in a session of its own, tied to the test run. There is a server for each
environment, since settings are read once, and for each Celery application; the servers in turn are forked off one that
knows the libraries only. What they do is in baton_dev/testing/forking.py.
"""

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from baton_dev.project import PROJECT_DIR
from baton_dev.supervisor.tether import tethered

MAX_PACKET_BYTES = 200_000
CONNECTION_NAME = "test process {}"  # by the pid of the process; its children have it, too


class LibraryServer:
    """The tests' end of the process that has imported the libraries, and forks the servers off itself."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                tethered([sys.executable, "-m", "baton_dev.testing.forking", str(theirs.fileno())], signal.SIGKILL),
                cwd=PROJECT_DIR,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def start_server(self, application: str, environment: dict[str, str]) -> "ForkServer":
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            is_project = application == settings.TEST_APPLICATION
            request = {"application": application, "is_project": is_project, "environment": environment}
            socket.send_fds(self._socket, [json.dumps(request).encode()], [theirs.fileno()])
        return ForkServer(ours)

    def stop(self) -> None:
        """End it, and with it all servers and what they have started."""
        self._socket.close()
        self._process.wait()


class ForkServer:
    """The tests' end of a server for one application and environment."""

    def __init__(self, connection: socket.socket) -> None:
        self._lock = threading.Lock()
        self._socket = connection

    def run(self, command: Sequence[str], log: Path) -> "Fork":
        """Start ``python -m module …`` or ``python file …``."""
        return Fork(self, int(self.ask(run=list(command), log=str(log))))

    def stop(self) -> None:
        """End the server, and with it what it has started."""
        self._socket.close()

    def ask(self, **request: Any) -> Any:
        with self._lock:
            try:
                self._socket.send(json.dumps(request).encode())
                answer = self._socket.recv(MAX_PACKET_BYTES)
            except ConnectionError:
                answer = b""
        if not answer:
            raise RuntimeError("The fork server has ended; its output says why.")
        return json.loads(answer)


class Fork:
    """A process that was forked off a server; what subprocess.Popen is to one that was not."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self.pid = pid
        self._server = server
        self._exit_code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        if self._exit_code is None:
            self._exit_code = self._server.ask(wait=self.pid)
        return self._exit_code


_starting = threading.Lock()  # tests start processes from threads, too
_library_servers: list[LibraryServer] = []  # one at most
_servers: dict[tuple[str, frozenset[tuple[str, str]]], ForkServer] = {}


def forked(command: Sequence[str], log: Path, environment: dict[str, str], application: str = "") -> Fork:
    """Start a program off the server for its environment; the first to ask waits for the imports.

    ``application`` is a Celery application; unless it is named, the project's.
    """
    application = application or settings.TEST_APPLICATION
    environment = {name: value for name, value in environment.items() if name != "PYTEST_CURRENT_TEST"}
    key = (application, frozenset(environment.items()))
    with _starting:
        if not _library_servers:
            _library_servers.append(LibraryServer())
        if key not in _servers:
            _servers[key] = _library_servers[0].start_server(application, environment)
    return _servers[key].run(command, log)


def stop_fork_servers() -> None:
    """End all of them."""
    while _servers:
        _servers.popitem()[1].stop()
    while _library_servers:
        _library_servers.pop().stop()
