"""Processor time tells what work costs, however busy the machine is: read from /proc, so on Linux only.

Wall-clock time on a busy machine says little. What the worker, PostgreSQL and Valkey spend on a message says the same
on a busy machine as on an idle one, more or less.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import redis
from django.db import connection

PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    session: int
    seconds: float
    seconds_of_ended_children: float


def is_measurable() -> bool:
    """Tell whether this system says what its processes spend."""
    return (PROC / "self" / "stat").exists()


def seconds_spent(*sessions: int) -> float:
    """Return what the processes of these sessions, PostgreSQL and Valkey have spent so far."""
    postmaster, valkey = _servers()
    total = 0.0
    for process in _processes():
        if process.session in sessions or process.pid in (postmaster, valkey) or process.parent == postmaster:
            total += process.seconds
        if process.pid == postmaster:  # backends that have ended
            total += process.seconds_of_ended_children
    return total


def _servers() -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = _read(cursor.fetchone()[0])
    with redis.Redis.from_url(os.environ["CELERY_BROKER_URL"]) as broker:
        valkey = int(broker.info("server")["process_id"])
    return backend.parent, valkey


def _processes() -> Iterator[_Process]:
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                yield _read(int(entry.name))
            except OSError:  # it has ended meanwhile
                continue


def _read(pid: int) -> _Process:
    # The name in parentheses may hold blanks: count from its end. Source: proc(5).
    fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    own, of_children = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
    return _Process(pid, int(fields[1]), int(fields[3]), own / _TICKS, of_children / _TICKS)
