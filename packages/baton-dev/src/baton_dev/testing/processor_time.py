"""Processor time tells what a page costs: on a busy machine the clock tells of others."""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from django.db import connection

ROUNDS = 15


def processor_seconds(name: str, call: Callable[[], object]) -> float:
    """Return the processor time of a call, here and in PostgreSQL; print it, and what the clock says."""
    call()
    times, began_with = [], _used_so_far()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    used = (_used_so_far() - began_with) / ROUNDS
    median, least = statistics.median(times), min(times)
    print(f"{name:20} processor {used * 1000:4.0f} ms   clock: median {median * 1000:4.0f}   least {least * 1000:4.0f}")
    return used


def _used_so_far() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
