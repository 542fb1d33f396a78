"""The problems of this moment: what the board shows first, alerts name, and the doctor tells at length.

They are the doctor's own answers, those that cost a few statements, under the causes that stop work.
"""

from django.db import DatabaseError

from baton_messaging.diagnosis.doctor.examination import all_examinations
from baton_messaging.diagnosis.doctor.examine import folded
from baton_messaging.diagnosis.installation import recent_causes
from baton_messaging.health.diagnosis import Diagnosis, Status


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
    return folded(quick, dict.fromkeys(found))
