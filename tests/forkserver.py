"""A fork server: it has imported the project and set Django up, and forks the processes of the tests off itself.

A worker of the project needs two seconds of processor time until it is ready, nearly all of it for imports; the tests
start hundreds. Forked off a process that has done them, it needs a tenth. What runs is the same: the same program with
the same arguments and environment, in a session of its own, tied to the test run. There is a server for each
environment, since settings are read once, and for each Celery application.

The server's end, ``python -m tests.forkserver FD APPLICATION``, answers requests on a socket, one JSON object a packet:
``{"run": [words], "log": path}`` with the pid, ``{"wait": pid}`` with the exit code (null: still running).
"""

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from config.local.tether import signal_on_parent_death, tethered

ROOT = Path(__file__).resolve().parent.parent
MAX_PACKET_BYTES = 200_000
PROJECT = "config"  # the Celery application; that of contract tests is another
_servers: dict[tuple[str, frozenset[tuple[str, str]]], "ForkServer"] = {}


class ForkServer:
    """The tests' end: a server for one environment."""

    def __init__(self, application: str, environment: dict[str, str]) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                tethered([sys.executable, "-m", "tests.forkserver", str(theirs.fileno()), application], signal.SIGKILL),
                cwd=ROOT,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def run(self, command: Sequence[str], log: Path) -> "Fork":
        """Start ``python -m module …`` or ``python file …``."""
        return Fork(self, int(self.ask(run=list(command), log=str(log))))

    def stop(self) -> None:
        """End the server, and with it what it has started."""
        self._socket.close()
        self._process.wait()

    def ask(self, **request: Any) -> Any:
        with self._lock:
            self._socket.send(json.dumps(request).encode())
            answer = self._socket.recv(MAX_PACKET_BYTES)
        if not answer:
            raise RuntimeError(f"The fork server has ended with {self._process.wait()}; its output says why.")
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


def forked(command: Sequence[str], log: Path, environment: dict[str, str], application: str = PROJECT) -> Fork:
    """Start a program off the server for its environment; the first to ask waits for the imports."""
    environment = {name: value for name, value in environment.items() if name != "PYTEST_CURRENT_TEST"}
    key = (application, frozenset(environment.items()))
    if key not in _servers:
        _servers[key] = ForkServer(application, environment)
    return _servers[key].run(command, log)


def stop_fork_servers() -> None:
    """End all of them."""
    while _servers:
        _servers.popitem()[1].stop()


def prepare(application: str) -> None:
    """Import what the programs import, and do what they do at their start, if they can inherit the result."""
    import celery.bin.celery
    import celery.bin.worker
    import celery.concurrency.prefork
    import celery.worker.consumer  # noqa: F401

    importlib.import_module(application)
    if application == PROJECT:
        _set_up_django()


def _set_up_django() -> None:
    import django
    from django.core.checks import run_checks
    from django.db import connections

    import config.celery

    django.setup()
    config.celery.app.loader.import_default_modules()
    run_checks()  # also imports the URLs
    connections.close_all()


def serve(requests: socket.socket) -> list[str]:
    """Answer until the tests end. Returns in the children only: what they are to run."""
    while packet := requests.recv(MAX_PACKET_BYTES):
        request = json.loads(packet)
        if "wait" in request:
            pid, status = os.waitpid(request["wait"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                requests.close()
                _settle(Path(request["log"]))
                return list(request["run"])
        requests.send(json.dumps(answer).encode())
    os._exit(0)


def _settle(log: Path) -> None:
    """Be a process of one's own: a session, an output, no way to outlive the server."""
    os.setsid()
    signal_on_parent_death(signal.SIGKILL)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)


def become(command: list[str]) -> None:
    """Run the program as the interpreter does."""
    _python, *words = command
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    prepare(sys.argv[2])
    gc.freeze()  # else the first search for garbage in each child writes to what it shares with us, and so copies it
    become(serve(socket.socket(fileno=int(sys.argv[1]))))
