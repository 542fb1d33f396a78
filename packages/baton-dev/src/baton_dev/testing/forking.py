"""Fork servers answer `forkserver`: processes that import, and fork others off themselves.

``python -m baton_dev.testing.forking FD`` imports the libraries, and forks a server for each application and
environment that it is asked for, on the socket FD: one JSON object a packet, ``{"application": name, "is_project":
bool, "environment": {name: value}}``, and with it the socket on which that server is to answer.

A server imports the project, and answers ``{"run": [words], "log": path}`` with the pid of the process that it has
forked for that, and ``{"wait": pid}`` with its exit code (null: still running).
"""

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from baton_dev.supervisor.tether import signal_on_parent_death
from baton_dev.testing.forkserver import CONNECTION_NAME, MAX_PACKET_BYTES

#: What most programs need and what does not read the project's settings.
LIBRARIES = (
    "celery.bin.celery",
    "celery.bin.worker",
    "celery.concurrency.prefork",
    "celery.worker.consumer",
    "django.contrib.admin.utils",
    "django.db.models",
    "django.urls",
    "kombu.transport.pyamqp",
    "kombu.transport.redis",
    "psycopg",
    "pydantic",
    "structlog",
)


def become_server(requests: socket.socket) -> tuple[socket.socket, dict[str, Any]]:
    """Fork a server for each request. Returns in the servers only: where to answer, and the request."""
    while True:
        packet, descriptors, _flags, _address = socket.recv_fds(requests, MAX_PACKET_BYTES, 1)
        if not packet:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            signal_on_parent_death(signal.SIGKILL)
            request = json.loads(packet)
            os.environ.clear()
            os.environ.update(request["environment"])
            return socket.socket(fileno=descriptors[0]), request
        os.close(descriptors[0])


def prepare(application: str, *, is_project: bool) -> None:
    """Do what the programs do at their start, if they can inherit the result."""
    importlib.import_module(application)
    if is_project:
        _set_up_django(f"{application}.celery")


def _set_up_django(celery_module: str) -> None:
    import django
    from django.db import connections

    django.setup()
    application = importlib.import_module(celery_module).app
    application.loader.import_default_modules()  # runs the system checks, too, which import the URLs
    connections.close_all()


def become_program(requests: socket.socket) -> list[str]:
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
    os.environ["PGAPPNAME"] = CONNECTION_NAME.format(os.getpid())  # by which PostgreSQL knows whose a connection is
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)


def run(command: list[str]) -> None:
    """Run the program as the interpreter does."""
    _python, *words = command
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.freeze()  # else the first search for garbage in each child writes to what it shares with us, and so copies it
    connection, request = become_server(socket.socket(fileno=int(sys.argv[1])))
    prepare(request["application"], is_project=request["is_project"])
    gc.freeze()
    run(become_program(connection))
