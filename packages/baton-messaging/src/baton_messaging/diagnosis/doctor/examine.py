"""The run of all examinations at the same time, each within its deadline, and their answers folded under causes.

First the servers, then what needs one of them; beside both what needs none, and only the machine's time. A server that
accepts a connection and then says nothing costs one deadline; what depends on it is skipped, and says so. Whatever
hangs, the answer is there after TOTAL_SECONDS. Threads that still wait then are left behind: the command ends without
them.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.database.deadline import Deadline, statements_within
from baton_messaging.diagnosis.doctor.examination import DATABASE, RESOURCES, Examination, all_examinations
from baton_messaging.diagnosis.doctor.redaction import redacted
from baton_messaging.diagnosis.doctor.servers import Servers
from baton_messaging.health.answers import HAND_OVER_SECONDS, Answer, NoAnswer, Question, answers_within
from baton_messaging.health.causes import fold
from baton_messaging.health.dependencies import needs_of_consumers
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status, Text, unanswered
from baton_messaging.health.resource import Kind, Resource

#: For all servers together: one that says nothing costs this much.
SERVERS_SECONDS: Final = 2.5
#: For all of it: half a second before a person who was promised an answer in six looks at the clock.
TOTAL_SECONDS: Final = 5.5

Answers = dict[str, list[Diagnosis]]


def examine_all() -> list[Diagnosis]:
    """Return the diagnoses of all examinations, in their order, victims under their cause, within TOTAL_SECONDS."""
    deadline = Deadline.after(TOTAL_SECONDS)
    servers = Servers(SERVERS_SECONDS)
    first = Examination("servers", servers.examine, deadline_seconds=SERVERS_SECONDS)
    examinations = [first, *all_examinations()]
    groups: dict[str, Question[Answers]] = {
        "alone": lambda by: _examine_together([one for one in examinations[1:] if not one.needs], by),
        "servers": lambda by: _examine_with_servers(first, servers, examinations, by),
    }
    found = answers_within(deadline.seconds_left, groups)
    answers = {**(found["alone"].value or {}), **(found["servers"].value or {})}
    for one in examinations:
        if one.name not in answers:
            answers[one.name] = _diagnoses(one, Answer(TOTAL_SECONDS, error=NoAnswer(TOTAL_SECONDS)))
    return redacted(folded(examinations, (told for one in examinations for told in answers[one.name])))


def _examine_with_servers(
    first: Examination, servers: Servers, examinations: list[Examination], by: Deadline
) -> Answers:
    """Ask the servers, and then those of them that have answered what else there is to ask."""
    answers = _examine_together([first], by)
    silent = servers.silent
    needing = [one for one in examinations if one.needs]
    answers |= _examine_together([one for one in needing if not silent & {*one.needs}], by)
    return {**{one.name: [_skipped(one, silent)] for one in needing}, **answers}


def folded(examinations: Iterable[Examination], diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Return the diagnoses, those that are explained by others only under these."""
    needs = {one.about: [RESOURCES[name] for name in one.needs] for one in examinations if one.needs}
    told = list(diagnoses)
    return fold(told, {**needs_of_consumers(), **needs, **_needs_of_roles(told)})


def _needs_of_roles(told: Iterable[Diagnosis]) -> dict[Resource, list[Resource]]:
    """Return the processes with a finding of their own, by their role: of a role that does no work they are the cause.

    A worker's name is its own, so that nothing is known of its role; relay, collector and beat are named by it.
    """
    needs: dict[Resource, list[Resource]] = {}
    for one in told:
        if one.about.kind is Kind.PROCESS and one.stops_work:
            role = Resource(Kind.ROLE, one.about.name.partition("@")[0])
            needs.setdefault(role, []).append(one.about)
    return needs


def _examine_together(examinations: Sequence[Examination], by: Deadline) -> Answers:
    left = by.earlier(HAND_OVER_SECONDS).seconds_left
    limits = {one.name: min(one.deadline_seconds, left) for one in examinations}
    answers = answers_within(limits, {one.name: partial(_ask, one) for one in examinations})
    return {one.name: _diagnoses(one, answers[one.name]) for one in examinations}


def _ask(examination: Examination, deadline: Deadline) -> list[Diagnosis]:
    with statements_within(deadline) if DATABASE in examination.needs else nullcontext():
        return list(examination.examine())


def _diagnoses(examination: Examination, answer: Answer[list[Diagnosis]]) -> list[Diagnosis]:
    if answer.value is not None:
        return answer.value
    found: Text = f"{type(answer.error).__name__}: {_first_line(answer.error)}"
    if isinstance(answer.error, NoAnswer):
        found = format_lazy(_("no answer within {seconds:g} s"), seconds=round(answer.seconds, 1))
    return [unanswered(examination.about, examination.name, found=found)]


def _skipped(examination: Examination, silent: Collection[str]) -> Diagnosis:
    missing = ", ".join(name for name in examination.needs if name in silent)
    found = format_lazy(_("not asked: no answer from the {server}"), server=missing)
    return Diagnosis(examination.about, examination.name, Status.UNKNOWN, found, confidence=Confidence.OPEN)


def _first_line(error: Exception | None) -> str:
    return (str(error).strip().splitlines() or [""])[0]
