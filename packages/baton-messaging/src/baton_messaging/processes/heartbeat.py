"""A heartbeat is written for a process whose loop turns: the loop calls ``beat``, a thread writes what was last said.

Invariant: nothing is written that the loop has not said since the last write. Stopped (SIGSTOP), hanging or killed, the
row gets old by itself. The database away costs beats and nothing else; the next one that gets through is current. What
the process is wired to, and how well its servers do, another thread writes into the row (wiring_watch.py).

Plain SQL and no model: a worker imports this before Django's models are ready. Ages instead of times: the database's
clock counts, not this machine's.
"""

import json
import os
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic, time
from typing import Any, Final

import structlog

from baton_messaging.conf import baton
from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.processes.standstill import standstill
from baton_messaging.processes.wiring import process_id
from baton_messaging.processes.wiring_watch import WiringWatch

log = structlog.get_logger(__name__)

LAST_WORD_SECONDS: Final = 5.0  # that a process which stops waits for its row to be deleted

_UPSERT: Final = """
    INSERT INTO baton_heartbeat AS beat (
        name, role, hostname, pid, started_at, beaten_at, queues, is_consuming, trouble, capacity, child_count,
        running, reserved, received_count, finished_count, last_received_at, last_finished_at,
        unconsumed_queues, clock_offset_seconds, stood_still_seconds, stood_still_at, wiring
    )
    SELECT %(name)s, %(role)s, %(hostname)s, %(pid)s, now - %(uptime)s * second, now - %(age)s * second,
        %(queues)s::varchar[], %(is_consuming)s, %(trouble)s, %(capacity)s, %(child_count)s,
        %(running)s::jsonb, %(reserved)s::jsonb, %(received_count)s, %(finished_count)s,
        now - (%(received_age)s::float + %(age)s) * second, now - (%(finished_age)s::float + %(age)s) * second,
        %(unconsumed_queues)s::varchar[], extract(epoch FROM now) - %(clock)s,
        %(stood_still_seconds)s::float, now - %(stood_still_age)s::float * second,
        %(wiring)s::jsonb -- of a new row: a process that is stopped before its first look is known by it
    FROM (SELECT clock_timestamp() AS now, interval '1 second' AS second) AS clock
    ON CONFLICT (name, hostname, pid) DO UPDATE SET
        role = excluded.role, started_at = excluded.started_at,
        beaten_at = excluded.beaten_at, queues = excluded.queues, is_consuming = excluded.is_consuming,
        trouble = excluded.trouble, capacity = excluded.capacity, child_count = excluded.child_count,
        running = excluded.running, reserved = excluded.reserved,
        received_count = excluded.received_count, finished_count = excluded.finished_count,
        last_received_at = excluded.last_received_at, last_finished_at = excluded.last_finished_at,
        unconsumed_queues = excluded.unconsumed_queues, clock_offset_seconds = excluded.clock_offset_seconds,
        stood_still_seconds = excluded.stood_still_seconds, stood_still_at = excluded.stood_still_at,
        ended_at = NULL, ended_by = ''
"""

_END: Final = """
    UPDATE baton_heartbeat SET ended_at = clock_timestamp(), ended_by = %(ended_by)s, is_consuming = false,
        running = '[]', reserved = '[]'
    WHERE name = %(name)s AND hostname = %(hostname)s AND pid = %(pid)s
"""


@dataclass(frozen=True)
class Beat:
    """What a loop says of itself. Ages in seconds, None for never."""

    is_consuming: bool
    trouble: str = ""
    queues: list[str] = field(default_factory=list)
    capacity: int = 0
    child_count: int = 0
    running: list[dict[str, Any]] = field(default_factory=list)
    reserved: list[dict[str, Any]] = field(default_factory=list)
    received_count: int = 0
    finished_count: int = 0
    received_age: float | None = None
    finished_age: float | None = None
    unconsumed_queues: list[str] = field(default_factory=list)


class HeartbeatWriter:
    """Keeps one row. ``start`` after all forks that are planned."""

    def __init__(self, role: str, name: str = "") -> None:
        hostname = socket.gethostname()
        self._identity = {
            "role": role,
            "name": (name or f"{role}@{hostname}:{os.getpid()}")[:200],
            "hostname": hostname[:200],
            "pid": os.getpid(),
        }
        self._started = monotonic()
        self._said: tuple[float, Beat] | None = None
        self._beaten = float("-inf")
        self._news = threading.Event()
        self._stopping = False
        self._is_in_trouble = self._is_written = False
        self._is_consuming = True
        self._writing = threading.Lock()
        self._ended_by = ""
        self.watch = WiringWatch(self._identity)
        self._thread = threading.Thread(target=self._write_until_stopped, name="heartbeat", daemon=True)

    @property
    def name(self) -> str:
        """Return the name of the process."""
        return str(self._identity["name"])

    @property
    def is_due(self) -> bool:
        """Tell whether it is time for another beat."""
        beat_seconds: float = baton().heartbeat_seconds
        return monotonic() - self._beaten >= beat_seconds

    def start(self) -> None:
        """Begin to write what is said."""
        standstill.start()
        self._thread.start()
        self.watch.start()

    def beat(self, beat: Beat) -> None:
        """Say that the loop turns. Costs nothing: another thread writes."""
        if beat.is_consuming is not self._is_consuming:  # it met trouble, or is over it
            self.watch.look_soon()
        self._is_consuming = beat.is_consuming
        self._beaten = monotonic()
        self._said = (self._beaten, beat)
        self._news.set()

    def stop(self, ended_by: str) -> None:
        """Say in the row that this process ends, and by what: "SIGTERM", "KeyError"."""
        self._ended_by = ended_by[:200]
        self._stopping = True
        self.watch.stop()
        self._news.set()
        if self._thread.is_alive():
            self._thread.join(LAST_WORD_SECONDS)

    def hold(self, seconds: float) -> bool:
        """Wait until no connection is open, and let none be opened: before a fork. False when it takes longer."""
        deadline = monotonic() + seconds
        if not self._writing.acquire(timeout=seconds):
            return False
        if not self.watch.looking.acquire(timeout=max(0.0, deadline - monotonic())):
            self._writing.release()
            return False
        return True

    def go_on(self) -> None:
        """Undo hold()."""
        self.watch.looking.release()
        self._writing.release()

    def _write_until_stopped(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            with self._writing:
                if self._stopping:
                    self._try(self._end)
                    return
                self._try(self._write)

    def _try(self, step: Any) -> None:
        try:
            step()
        except Exception as error:  # whatever it is: the process has better to do than to beat
            if not self._is_in_trouble:
                log.warning("heartbeat_not_written", process=self._identity["name"], error_class=type(error).__name__)
            self._is_in_trouble = True
        else:
            self._is_in_trouble = False

    def _write(self) -> None:
        if self._said:
            said_at, beat = self._said
            now = monotonic()
            _upsert(self._identity, beat=vars(beat), age=now - said_at, uptime=now - self._started)
            self._is_written = True
            if not self.watch.is_written:
                self.watch.look_soon()

    def _end(self) -> None:
        if self._said and not self._is_written:
            self._write()
        _end(self._identity, ended_by=self._ended_by)


def _upsert(identity: Mapping[str, Any], *, beat: Mapping[str, Any], age: float, uptime: float) -> None:
    """Write what a process said ``age`` seconds ago. Raises the database's errors."""
    lists = {name: json.dumps(beat[name]) for name in ("running", "reserved")}
    stood_still = {"stood_still_seconds": standstill.last_seconds, "stood_still_age": standstill.last_age}
    with dedicated_connection() as own, own.cursor() as cursor:
        values = {**identity, **beat, **lists, **stood_still, "age": age, "uptime": uptime}
        process = json.dumps({"process": {"id": process_id()}})
        cursor.execute(_UPSERT, {**values, "clock": time(), "wiring": process})


def _end(identity: Mapping[str, Any], *, ended_by: str) -> None:
    """Write how a process ends. Raises the database's errors."""
    with dedicated_connection() as own, own.cursor() as cursor:
        cursor.execute(_END, {**identity, "ended_by": ended_by})
