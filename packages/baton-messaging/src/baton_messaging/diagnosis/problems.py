"""The problems of this moment: what the board shows first, alerts name, and the doctor tells at length.

They are the doctor's own answers, those that cost a few statements, under the causes that stop work.
"""

from collections.abc import Sequence
from typing import Final

from baton_messaging.database.deadline import Deadline, statements_within
from baton_messaging.diagnosis.doctor.examination import Examination, all_examinations
from baton_messaging.diagnosis.doctor.examine import folded
from baton_messaging.diagnosis.installation import recent_findings
from baton_messaging.health.answers import Question, answers_within
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.recovery.findings import findings

#: For all of it. The look at the servers comes first, and takes a second where one of them hangs.
TOTAL_SECONDS: Final = 1.8


def problems() -> list[Diagnosis]:
    """Return what is to be mended now, victims under their causes: servers, processes, holds, dead letters.

    Some cheap statements, and what the apps' checks find, in threads: a database or a storage may hang. What else the
    doctor asks, takes longer.
    """
    deadline = Deadline.after(TOTAL_SECONDS)
    quick = [one for one in all_examinations() if one.is_quick]
    asked: dict[str, Question[list[Diagnosis]]] = {"checks": _checked, "quick": lambda by: _examined(quick, by)}
    found = list(recent_findings())
    for answer in answers_within(deadline.seconds_left, asked, key="board").values():
        found += answer.value or []  # without one, the database's or the storage's own finding says why
    return folded(quick, dict.fromkeys(found))


def _examined(quick: Sequence[Examination], deadline: Deadline) -> list[Diagnosis]:
    with statements_within(deadline):
        return [told for one in quick for told in one.examine() if told.status is not Status.OK]


def _checked(deadline: Deadline) -> list[Diagnosis]:
    with statements_within(deadline):
        return list(findings())
