"""The report of triage: the verdicts on one id in words, and whether a person is needed. The same on all surfaces."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from django.db import OperationalError, ProgrammingError

from baton_messaging.diagnosis.links import dead_letter_link
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.gather.deadline import statement_deadline
from baton_messaging.diagnosis.triage.gather.gather import gather, without_database
from baton_messaging.diagnosis.triage.gather.reach import database_reach, reach_after
from baton_messaging.diagnosis.triage.judge import judge
from baton_messaging.diagnosis.triage.lookup import look_up
from baton_messaging.diagnosis.triage.verdict import State, Verdict
from baton_messaging.diagnosis.triage.wording import evidence_texts, later_texts, question_texts, state_text, step_text
from baton_messaging.health.own_time import OwnTime
from baton_messaging.health.wording import CONFIDENCES

_ENDS: Final = (State.DONE, State.DEAD, State.CANCELLED, State.NOT_PUBLISHED, State.ROW_GONE)


@dataclass(frozen=True)
class NextStep:
    """What to do: a sentence, and where it applies a command to type and a page to open."""

    text: str
    command: str = ""
    url: str = ""


@dataclass(frozen=True)
class Answer:
    """One verdict in words. ``state`` is the stable name, ``state_text`` says more, in the reader's language."""

    consumer: str
    event: str
    message_id: str
    state: str
    state_text: str
    owner_name: str
    owner_email: str
    evidence: tuple[str, ...]
    open_questions: tuple[str, ...]
    next_step: NextStep
    needs_person: bool
    confidence: str
    confidence_text: str
    cause: dict[str, Any] | None = None
    is_dead_letter: bool = False

    @property
    def victims(self) -> list[str]:
        """Return what else waits for the same cause."""
        return [victim["what"] for victim in self.cause["victims"]] if self.cause else []

    @property
    def owner(self) -> str:
        """Return the team with its address."""
        return f"{self.owner_name} <{self.owner_email}>"

    @property
    def colour(self) -> str:
        """Return the colour of the state: a class of desk.css."""
        return colour_of(self.state, needs_person=self.needs_person)


@dataclass(frozen=True)
class Report:
    """All verdicts on one id."""

    id: str
    asked_at: datetime
    verdicts: tuple[Answer, ...]
    is_unheard_of: bool = False
    later: tuple[str, ...] = ()  # what will follow, and when, in words

    @property
    def needs_person(self) -> bool:
        """Tell whether a person must act."""
        return any(answer.needs_person for answer in self.verdicts)

    @property
    def is_over(self) -> bool:
        """Tell whether nothing changes any more without a person."""
        return all(answer.state in _ENDS for answer in self.verdicts)

    @property
    def owners(self) -> list[str]:
        """Return the teams that must act, each once."""
        return list(dict.fromkeys(answer.owner_name for answer in self.verdicts if answer.needs_person))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {
            "id": self.id,
            "asked_at": self.asked_at.isoformat(),
            "needs_person": self.needs_person,
            "later": list(self.later),
            "verdicts": [asdict(answer) for answer in self.verdicts],
        }


def colour_of(state: str, *, needs_person: bool) -> str:
    """Return ``resolved``, ``requested`` (under way) or ``open`` (a person must act): the desk's words for colours."""
    if needs_person:
        return "open"
    if state == State.DONE:
        return "resolved"
    return "discarded" if state in (State.DEAD, State.CANCELLED) else "requested"


def triage(text: str) -> Report:
    """Answer for one id, or for the number that people call its row by. Raises BadId, AmbiguousId.

    A database that breaks off, or a table that is locked, is an answer, too.
    """
    own_time = OwnTime()
    try:
        with statement_deadline():
            found = look_up(text)
            text = found.key if found.is_called else text
            (facts,) = gather([found])
    except (OperationalError, ProgrammingError) as error:
        facts = without_database(reach_after(error), own_time)
    return report(text, facts)


def triage_or_outage(text: str) -> Report:
    """Answer as ``triage`` does; when the database does not answer, report its outage. Raises BadId."""
    own_time = OwnTime()
    reach = database_reach()
    return triage(text) if reach.answers else report(text, without_database(reach, own_time))


def report(text: str, facts: Facts) -> Report:
    """Put the verdicts on some facts into words."""
    verdicts = tuple(_answer(verdict, facts.now) for verdict in judge(facts))
    is_unheard_of = facts.database.answers and not (facts.subjects or facts.deliveries or facts.events)
    return Report(text, facts.now, verdicts, is_unheard_of, tuple(later_texts(facts)))


def next_step(verdict: Verdict, now: datetime) -> NextStep:
    """Return what a verdict says is to be done."""
    dead_letter_id = verdict.step.dead_letter_id
    url = dead_letter_link(dead_letter_id) if dead_letter_id else verdict.step.link
    return NextStep(step_text(verdict.step, now=now), verdict.step.command, url)


def _answer(verdict: Verdict, now: datetime) -> Answer:
    return Answer(
        consumer=verdict.consumer,
        event=verdict.event,
        message_id=str(verdict.message_id or ""),
        state=str(verdict.state),
        state_text=state_text(verdict, now=now),
        owner_name=verdict.owner.name,
        owner_email=verdict.owner.email,
        evidence=tuple(evidence_texts(verdict, now=now)),
        open_questions=tuple(question_texts(verdict, now=now)),
        next_step=next_step(verdict, now),
        needs_person=verdict.needs_person,
        confidence=str(verdict.confidence),
        confidence_text=str(CONFIDENCES[verdict.confidence]),
        cause=verdict.cause.as_dict() if verdict.cause else None,
        is_dead_letter=verdict.step.dead_letter_id is not None,
    )
