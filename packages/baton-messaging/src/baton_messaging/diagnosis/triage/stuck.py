"""The survey of what is stuck: older than some minutes and not settled, grouped by verdict, consumer and owner.

Candidates come from where unsettled things are cheap to find: the apps' own unsettled rows, the outbox, waiting
attempts, open dead letters, and what was sent and is not settled. Each of these has a partial index, so the survey
costs what is stuck, not what there was.

Hazard: the reconciler marks what is settled. While it does not run, what was sent comes last here and may be cut short.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import OperationalError

from baton_messaging.diagnosis.links import triage_link
from baton_messaging.diagnosis.triage.gather.deadline import database_reach, reach_after, statement_deadline
from baton_messaging.diagnosis.triage.gather.gather import gather, without_database
from baton_messaging.diagnosis.triage.gather.snapshot import now
from baton_messaging.diagnosis.triage.judge import judge
from baton_messaging.diagnosis.triage.lookup import Lookup, about
from baton_messaging.diagnosis.triage.report import Report, colour_of, report
from baton_messaging.diagnosis.triage.subjects import all_kinds
from baton_messaging.diagnosis.triage.verdict import State, Verdict
from baton_messaging.diagnosis.triage.wording import STATES
from baton_messaging.health.wording import duration
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage

OLDER_THAN: Final = timedelta(minutes=5)
MAX_KEYS: Final = 1_000  # judged one by one; with more, the oldest tell the story
MAX_EXAMPLES: Final = 3


@dataclass(frozen=True)
class Group:
    """Equal verdicts of the same cause. ``examples`` are ids to ask about one by one."""

    state: State
    consumer: str
    owner: str
    needs_person: bool
    cause: str
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

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {**vars(self), "state": str(self.state), "examples": list(self.examples)}


@dataclass(frozen=True)
class Survey:
    """What is stuck. ``count`` is of ids, not of verdicts: one order may be stuck with several consumers."""

    older_than: timedelta
    count: int
    is_cut_short: bool
    groups: tuple[Group, ...]

    @property
    def age(self) -> str:
        """Return the age in words."""
        return duration(self.older_than.total_seconds())

    @property
    def needs_person(self) -> bool:
        """Tell whether a person must act."""
        return any(group.needs_person for group in self.groups)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {
            "older_than_seconds": self.older_than.total_seconds(),
            "count": self.count,
            "is_cut_short": self.is_cut_short,
            "needs_person": self.needs_person,
            "groups": [group.as_dict() for group in self.groups],
        }


def survey_or_outage(older_than: timedelta = OLDER_THAN) -> "Survey | Report":
    """Survey; when the database does not answer, report its outage."""
    reach = database_reach()
    return survey_or_report(older_than) if reach.answers else report("--stuck", without_database(reach))


def survey_or_report(older_than: timedelta = OLDER_THAN) -> "Survey | Report":
    """Survey; when the database breaks off, or a table is locked, report that."""
    try:
        return survey(older_than)
    except OperationalError as error:
        return report("--stuck", without_database(reach_after(error)))


def survey(older_than: timedelta = OLDER_THAN) -> Survey:
    """Return the verdicts on all that is older than that and not settled, in groups."""
    with statement_deadline():
        keys = _unsettled_keys(now() - older_than)
        verdicts = list(_verdicts(keys[:MAX_KEYS]))
    stuck = {key for key, _verdict in verdicts}
    return Survey(older_than, len(stuck), len(keys) > MAX_KEYS, tuple(_groups(verdicts)))


def _unsettled_keys(before: datetime) -> list[str]:
    """Return the keys, each once; one more than are looked at if there are more."""
    limit = MAX_KEYS + 1
    keys: dict[str, None] = {}
    for kind in all_kinds():
        keys.update(dict.fromkeys(kind.unsettled(before, limit)))
    unsettled = (
        OutboxMessage.objects.waiting().filter(occurred_at__lt=before).order_by("pk"),
        Attempt.objects.filter(sent_at=None, failed_at__lt=before).order_by("due_at"),
        DeadLetter.objects.open().filter(died_at__lt=before).exclude(key="").order_by("-died_at"),
        OutboxMessage.objects.filter(settled_at=None, published_at__lt=before).order_by("published_at"),
    )
    for rows in unsettled:
        keys.update(dict.fromkeys(rows.values_list("key", flat=True)[:limit]))
    return list(keys)


def _verdicts(keys: list[str]) -> Iterator[tuple[str, Verdict]]:
    rows = defaultdict(list)
    for row in about(keys):
        rows[row.key].append(row)
    lookups = [Lookup(key, tuple(rows[key])) for key in keys]
    for lookup, facts in zip(lookups, gather(lookups), strict=True):
        for verdict in judge(facts):
            if verdict.state != State.DONE:
                yield lookup.key, verdict


def _groups(verdicts: list[tuple[str, Verdict]]) -> list[Group]:
    found: dict[tuple[State, str, str, bool, str], dict[str, None]] = defaultdict(dict)
    for key, verdict in verdicts:
        cause = str(verdict.cause.found) if verdict.cause else ""
        found[verdict.state, verdict.consumer, str(verdict.owner), verdict.needs_person, cause][key] = None
    groups = [Group(*same, len(keys), tuple(keys)[:MAX_EXAMPLES]) for same, keys in found.items()]
    return sorted(groups, key=lambda group: (not group.needs_person, -group.count))
