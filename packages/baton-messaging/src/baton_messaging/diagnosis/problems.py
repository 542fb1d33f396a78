"""The problems of this moment: what the board shows first, alerts name, and the doctor tells at length.

They are the doctor's own answers, those that cost a few statements, under the causes that stop work.
"""

from typing import Final

from django.db import DatabaseError

from baton_messaging.database.deadline import Deadline, statements_within
from baton_messaging.diagnosis.doctor.examination import all_examinations
from baton_messaging.diagnosis.doctor.examine import folded
from baton_messaging.diagnosis.installation import recent_findings
from baton_messaging.health.answers import answers_within
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.recovery.findings import Contradiction, findings

CHECKS_SECONDS: Final = 0.5


def problems() -> list[Diagnosis]:
    """Return what is to be mended now, victims under their causes: servers, processes, holds, dead letters.

    Some cheap statements on this thread's connection, and what the apps' checks find in half a second. What else the
    doctor asks, takes longer.
    """
    quick = [one for one in all_examinations() if one.is_quick]
    found = list(recent_findings())
    try:
        found += _contradictions()
        for examination in quick:
            found += [one for one in examination.examine() if one.status is not Status.OK]
    except DatabaseError:  # which is among the causes
        pass
    return folded(quick, dict.fromkeys(found))


def _contradictions() -> list[Contradiction]:
    """Return what the apps' checks find. In a thread: one may ask a storage that hangs."""
    return answers_within(CHECKS_SECONDS, {"checks": _checked}, key="board")["checks"].value or []


def _checked(deadline: Deadline) -> list[Contradiction]:
    with statements_within(deadline):
        return findings()
