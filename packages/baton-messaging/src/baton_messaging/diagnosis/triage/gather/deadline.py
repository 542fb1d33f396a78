"""Deadlines of triage: each question of it is answered in two seconds, whatever is down or busy.

A page and the API ask a process that runs. A command at a shell has waited for the start of its process, too, which on
a busy machine is most of the two seconds: then less of a long queue is read, and the position in it may stay open.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from django.db import OperationalError, connection, transaction

from baton_messaging.database.errors import takes_writes
from baton_messaging.diagnosis.triage.facts import TAKES_NO_WRITES, Reach

SEARCH_SECONDS: Final = 0.5  # the depth alone is known much sooner
MIN_SEARCH_SECONDS: Final = 0.1  # some thousand messages
SEARCHED_BY_SECONDS: Final = 1.5  # after the question; the rest is for the tables

STATEMENT_MS: Final = 1_500  # of one statement
LOCK_MS: Final = 500  # a lock that a migration holds is reported, not waited for
CONNECT_SECONDS: Final = 1.0

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
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {STATEMENT_MS}; SET LOCAL lock_timeout = {LOCK_MS}")
        yield


def reach_after(error: OperationalError) -> Reach:
    """Return what an error of a statement says of the database."""
    return Reach(False, type(error.__cause__ or error).__name__)


def database_reach() -> Reach:
    """Tell whether the database answers and takes writes, without waiting for one that does not."""
    error: list[str] = []
    answered = threading.Event()

    def probe() -> None:
        own = connection.copy()
        own.settings_dict["OPTIONS"] = {**own.settings_dict["OPTIONS"], "connect_timeout": CONNECT_SECONDS}
        try:
            if takes_writes(own):
                answered.set()
            else:
                error.append(TAKES_NO_WRITES)
        except Exception as failure:  # whatever it is, the caller is told
            error.append(type(failure).__name__)
        finally:
            own.close()

    prober = threading.Thread(target=probe, name="triage-database", daemon=True)
    prober.start()
    prober.join(CONNECT_SECONDS)
    if answered.is_set():
        return Reach()
    return Reach(False, error[0] if error else f"no answer within {CONNECT_SECONDS:g} s")
