"""A standstill is time in which nothing of this process ran: a suspended machine, SIGSTOP, no processor to be had.

A thread looks at a clock that goes on meanwhile, every second. A loop that hangs is none: the thread runs beside it.
What waited for the whole time without running is not to blame for it: limits do not count it (worker/pool.py).
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Final

import structlog

log = structlog.get_logger(__name__)

TICK_SECONDS: Final = 1.0
#: Late by less is a busy machine.
MIN_SECONDS: Final = 3.0


def clock() -> float:
    """Return seconds by a clock that goes on while the machine is suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass
class Standstill:
    """Adds up the time in which this process stood still. Any thread may ask."""

    total_seconds: float = 0.0
    last_seconds: float | None = None
    _last_end: float | None = None
    _looked: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Begin to look, in a thread. After all forks that are planned: a child has no such thread."""
        if self._looked is not None:
            return
        self._looked = clock()
        threading.Thread(target=self._look_for_ever, name="standstill", daemon=True).start()

    def look(self) -> float:
        """Return for how many seconds the process has stood still in all, up to now."""
        with self._lock:
            if self._looked is None:  # nobody has looked regularly
                return 0.0
            now = clock()
            late = now - self._looked - TICK_SECONDS
            self._looked = now
            if late >= MIN_SECONDS:
                self.total_seconds += late
                self.last_seconds, self._last_end = late, now
            else:
                late = 0.0
        if late:
            log.warning("process_stood_still", seconds=round(late, 1))
        return self.total_seconds

    @property
    def last_age(self) -> float | None:
        """Return how many seconds ago the last one ended."""
        return None if self._last_end is None else clock() - self._last_end

    def _look_for_ever(self) -> None:
        while True:
            time.sleep(TICK_SECONDS)
            self.look()


#: Of this process; only a process that beats looks at it.
standstill: Final = Standstill()
