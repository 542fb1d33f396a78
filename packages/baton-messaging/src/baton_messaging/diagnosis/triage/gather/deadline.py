"""Deadlines of triage: each question of it is answered in two seconds, whatever is down or busy.

A page and the API ask a process that runs. A command at a shell has waited for the start of its process, too, which on
a busy machine is most of the two seconds: then less of a long queue is read, and the position in it may stay open.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from baton_messaging.database.deadline import Deadline, statements_within

SEARCH_SECONDS: Final = 0.5  # the depth alone is known much sooner
MIN_SEARCH_SECONDS: Final = 0.1  # some thousand messages
SEARCHED_BY_SECONDS: Final = 1.5  # after the question; the rest is for the tables

STATEMENT_SECONDS: Final = 1.5  # of one statement
SERVERS_SECONDS: Final = 1.2  # for broker, causes and the apps' checks, all at the same time

_waited_seconds: ContextVar[float] = ContextVar("waited_seconds", default=0.0)


@contextmanager
def deadline_after(seconds: float) -> Iterator[None]:
    """Shorten the deadline by what the reader has waited already."""
    token = _waited_seconds.set(seconds)
    try:
        yield
    finally:
        _waited_seconds.reset(token)


def search_seconds() -> float:
    """Return how long the queues may be read."""
    return max(MIN_SEARCH_SECONDS, min(SEARCH_SECONDS, SEARCHED_BY_SECONDS - _waited_seconds.get()))


def age_of_process_seconds() -> float:
    """Return for how long this process has run; where the system does not tell, for how long it has worked."""
    try:
        after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        started = int(after_name[19]) / os.sysconf("SC_CLK_TCK")  # since boot; field 22 (*Source*: proc(5))
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, AttributeError):  # not Linux
        return time.process_time()


@contextmanager
def statement_deadline() -> Iterator[None]:
    """Let no statement inside wait for longer than an answer may take. Raises OperationalError."""
    with statements_within(Deadline.after(STATEMENT_SECONDS)):
        yield
