"""Own time tells a server that is silent from a process that could not listen: only an idle wait is evidence.

What this process has computed meanwhile, and how long its threads waited for a processor, is no waiting for a server.
Where the whole machine is short of processors, a server on it is, too, and is given longer. Source: Linux, documents
"scheduler statistics" and "PSI"; another system tells only what was computed.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

#: Time with nothing to do but wait, below which silence proves nothing: on an ordinary machine …
ENOUGH_SECONDS: Final = 0.8
#: … and on one whose processors are fought for: some task waits for one for more than this share of the time.
ENOUGH_PRESSED_SECONDS: Final = 1.4
PRESSED_SHARE: Final = 0.5


def _queued() -> dict[str, int]:
    """Return for how many nanoseconds each thread of this process has waited for a processor."""
    found = {}
    with suppress(OSError):
        for statistics in Path("/proc/self/task").glob("*/schedstat"):
            with suppress(OSError, ValueError, IndexError):  # the thread has ended meanwhile
                found[statistics.parent.name] = int(statistics.read_text().split()[1])
    return found


def _pressed_seconds() -> float:
    """Return for how long some task of this machine has waited for a processor."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/pressure/cpu").read_text().split("total=")[1].split()[0]) / 1e6
    return 0.0


@dataclass(frozen=True)
class OwnTime:
    """What this process did since the moment at which this was made."""

    _started: float = field(default_factory=time.monotonic)
    _computed: float = field(default_factory=time.process_time)
    _queued: Mapping[str, int] = field(default_factory=_queued)
    _pressed: float = field(default_factory=_pressed_seconds)

    def is_evidence(self) -> bool:
        """Tell whether a server that said nothing in this time is silent, and not this process deaf."""
        elapsed = time.monotonic() - self._started
        queued = sum(nanoseconds - self._queued.get(thread, 0) for thread, nanoseconds in _queued().items()) / 1e9
        busy = time.process_time() - self._computed + queued
        is_pressed = _pressed_seconds() - self._pressed > elapsed * PRESSED_SHARE
        enough = ENOUGH_PRESSED_SECONDS if is_pressed else ENOUGH_SECONDS
        return elapsed - busy >= enough
