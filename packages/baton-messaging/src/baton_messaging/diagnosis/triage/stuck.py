"""The survey of what is stuck: older than some minutes and not settled, grouped by cause, or by verdict and consumer.

The count is of all that is stuck, or says "at least"; judged one by one are the oldest. Whatever waits for the same
cause is one group, whichever consumer it is for: one cause has one owner and one step.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from django.db import OperationalError, ProgrammingError

from baton_messaging.diagnosis.links import triage_link
from baton_messaging.diagnosis.triage.facts import Facts, Reach
from baton_messaging.diagnosis.triage.gather.deadline import statement_deadline
from baton_messaging.diagnosis.triage.gather.gather import gather, without_database
from baton_messaging.diagnosis.triage.gather.reach import database_reach, reach_after, read_only_cause
from baton_messaging.diagnosis.triage.gather.snapshot import now
from baton_messaging.diagnosis.triage.judge import judge
from baton_messaging.diagnosis.triage.lookup import Lookup, about
from baton_messaging.diagnosis.triage.report import NextStep, Report, colour_of, next_step, report
from baton_messaging.diagnosis.triage.unsettled import unsettled_keys
from baton_messaging.diagnosis.triage.verdict import State, Verdict
from baton_messaging.diagnosis.triage.wording import STATES
from baton_messaging.health.own_time import OwnTime
from baton_messaging.health.wording import CONFIDENCES, duration

OLDER_THAN: Final = timedelta(minutes=5)
MAX_KEYS: Final = 1_000  # judged one by one; with more, the oldest tell the story
MAX_EXAMPLES: Final = 3


@dataclass(frozen=True)
class Group:
    """Equal verdicts, or all that wait for the same cause. ``examples`` are ids to ask about one by one.

    ``next_step`` is that of the oldest of them, ``age_seconds`` its age (None: not known).
    """

    state: State
    consumer: str
    owner: str
    needs_person: bool
    cause: str
    confidence: str
    next_step: NextStep
    age_seconds: float | None
    count: int
    examples: tuple[str, ...]

    @property
    def state_text(self) -> str:
        """Return the state in the reader's language."""
        return str(STATES[self.state])

    @property
    def links(self) -> list[tuple[str, str]]:
        """Return the examples, each with the address of its page."""
        return [(key, triage_link(key)) for key in self.examples]

    @property
    def colour(self) -> str:
        """Return the colour of the state."""
        return colour_of(self.state, needs_person=self.needs_person)

    @property
    def age(self) -> str:
        """Return the age of the oldest."""
        return duration(self.age_seconds)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        told = {"state": str(self.state), "examples": list(self.examples), "next_step": vars(self.next_step)}
        return {**vars(self), **told}


@dataclass(frozen=True)
class Survey:
    """What is stuck. ``count`` is of ids, not of verdicts: one order may be stuck with several consumers.

    ``judged_count`` of these were looked at one by one: the groups are of them. ``is_cut_short``: there are more than
    ``count``, or more than were judged.
    """

    older_than: timedelta
    count: int
    judged_count: int
    is_complete: bool
    groups: tuple[Group, ...]

    @property
    def is_cut_short(self) -> bool:
        """Tell whether the groups are not all there is."""
        return not self.is_complete or self.judged_count < self.count

    @property
    def age(self) -> str:
        """Return the age in words."""
        return duration(self.older_than.total_seconds())

    @property
    def needs_person(self) -> bool:
        """Tell whether a person must act."""
        return any(group.needs_person for group in self.groups)

    @property
    def owners(self) -> list[str]:
        """Return the owners of the groups, each once."""
        return sorted({group.owner for group in self.groups})

    def of_owner(self, text: str) -> "Survey":
        """Return the groups of the owners whose name or address has this text; the counts stay those of all."""
        groups = tuple(group for group in self.groups if text.lower() in group.owner.lower())
        return Survey(self.older_than, self.count, self.judged_count, self.is_complete, groups)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {
            "older_than_seconds": self.older_than.total_seconds(),
            "count": self.count,
            "judged_count": self.judged_count,
            "is_cut_short": self.is_cut_short,
            "needs_person": self.needs_person,
            "groups": [group.as_dict() for group in self.groups],
        }


class _Stuck(NamedTuple):
    key: str
    since: datetime | None
    verdict: Verdict


def survey_or_outage(older_than: timedelta = OLDER_THAN) -> "Survey | Report":
    """Survey; when the database does not answer, or takes no writes and nothing is old yet, report its outage."""
    own_time = OwnTime()
    reach = database_reach()
    if reach.answers:
        found = survey_or_report(older_than)
        cause = read_only_cause() if isinstance(found, Survey) and not found.groups else None
        if cause is None:
            return found
        reach = Reach(False, cause=cause)
    return report("--stuck", without_database(reach, own_time))


def survey_or_report(older_than: timedelta = OLDER_THAN) -> "Survey | Report":
    """Survey; when the database breaks off, or a table is locked, report that."""
    own_time = OwnTime()
    try:
        return survey(older_than)
    except (OperationalError, ProgrammingError) as error:
        return report("--stuck", without_database(reach_after(error), own_time))


def survey(older_than: timedelta = OLDER_THAN) -> Survey:
    """Return the verdicts on all that is older than that and not settled, in groups."""
    with statement_deadline():
        moment = now()
        unsettled = unsettled_keys(moment - older_than)
        judged = list(unsettled.since)[:MAX_KEYS]
        stuck = list(_stuck(judged, unsettled.since))
    stuck_count = len({one.key for one in stuck})
    others_count = len(unsettled.since) - len(judged)
    return Survey(
        older_than, stuck_count + others_count, stuck_count, unsettled.is_complete, tuple(_groups(stuck, moment))
    )


def _stuck(keys: list[str], since: dict[str, datetime | None]) -> Iterator[_Stuck]:
    rows = defaultdict(list)
    for row in about(keys):
        rows[row.key].append(row)
    lookups = [Lookup(key, tuple(rows[key])) for key in keys]
    for lookup, facts in zip(lookups, gather(lookups), strict=True):
        for verdict in judge(facts):
            if verdict.state != State.DONE:
                yield _Stuck(lookup.key, since[lookup.key] or _made_at(facts), verdict)


def _made_at(facts: Facts) -> datetime | None:
    return min((subject.created_at for subject in facts.subjects if subject.created_at), default=None)


def _groups(stuck: Iterable[_Stuck], moment: datetime) -> list[Group]:
    found: dict[tuple[Any, ...], list[_Stuck]] = defaultdict(list)
    for one in stuck:
        found[_same(one.verdict)].append(one)
    groups = [_group(members, moment) for members in found.values()]
    return sorted(groups, key=lambda group: (not group.needs_person, -group.count))


def _same(verdict: Verdict) -> tuple[Any, ...]:
    """Return what verdicts of one group have in common: a cause, or else state, consumer, owner and whether to act."""
    if verdict.cause is not None:
        return (verdict.cause.about, str(verdict.cause.what), str(verdict.owner))
    return (verdict.state, verdict.consumer, str(verdict.owner), verdict.needs_person)


def _group(members: list[_Stuck], moment: datetime) -> Group:
    oldest = min(members, key=lambda one: one.since or moment)
    verdict = oldest.verdict
    keys = list(dict.fromkeys(one.key for one in sorted(members, key=lambda one: one.since or moment)))
    return Group(
        state=verdict.state,
        consumer=", ".join(sorted({one.verdict.consumer for one in members if one.verdict.consumer})),
        owner=str(verdict.owner),
        needs_person=verdict.needs_person,
        cause=str(verdict.cause.found) if verdict.cause else "",
        confidence=str(CONFIDENCES[verdict.confidence]),
        next_step=next_step(verdict, moment),
        age_seconds=(moment - oldest.since).total_seconds() if oldest.since else None,
        count=len(keys),
        examples=tuple(keys[:MAX_EXAMPLES]),
    )
