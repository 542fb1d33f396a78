"""Wording of triage: puts codes and values into sentences in the reader's language. Each code has one text.

Times are shown in UTC, without the date while it is today's.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.subjects import label_of
from baton_messaging.diagnosis.triage.texts import DETAILS, EVIDENCE, QUESTIONS, STEPS
from baton_messaging.diagnosis.triage.verdict import Phrase, State, Step, Verdict
from baton_messaging.health.wording import duration
from baton_messaging.models.dead_letter import Reason

STATES: Final[dict[State, Promise]] = {
    State.NOT_PUBLISHED: gettext_lazy("not published"),
    State.ROW_GONE: gettext_lazy("its row is gone"),
    State.NOT_DUE: gettext_lazy("not due yet"),
    State.CANCELLED: gettext_lazy("cancelled"),
    State.WAITING: gettext_lazy("waiting for the relay"),
    State.RELAY_STALLED: gettext_lazy("relay stalled"),
    State.HELD: gettext_lazy("held"),
    State.RETRYING: gettext_lazy("retrying"),
    State.QUEUED: gettext_lazy("queued"),
    State.NOBODY_CONSUMES: gettext_lazy("nobody consumes the queue"),
    State.RUNNING: gettext_lazy("running"),
    State.LOST: gettext_lazy("lost by the broker, will be sent again"),
    State.ELSEWHERE: gettext_lazy("taken elsewhere"),
    State.DEAD: gettext_lazy("dead"),
    State.DONE: gettext_lazy("done"),
    State.UNKNOWN: gettext_lazy("not known"),
}


def state_text(verdict: Verdict, *, now: datetime) -> str:
    """Return the state with what belongs in brackets: "retrying (2 of 8, next at 09:14:02)"."""
    state = str(STATES[verdict.state])
    if verdict.detail is None:
        return state
    return f"{state} ({_text(DETAILS, verdict.detail, now)})"


def evidence_texts(verdict: Verdict, *, now: datetime) -> list[str]:
    """Return one sentence per line of evidence."""
    return [_text(EVIDENCE, line, now) for line in verdict.evidence]


def question_texts(verdict: Verdict, *, now: datetime) -> list[str]:
    """Return the questions that stay open."""
    return [_text(QUESTIONS, line, now) for line in verdict.open_questions]


def later_texts(facts: Facts) -> list[str]:
    """Return what will follow, and when."""
    text = _("%(event)s is to be sent at %(at)s")
    return [text % {"event": name, "at": _shown("at", at, facts.now)} for name, at in facts.later]


def step_text(step: Step, *, now: datetime) -> str:
    """Return what to do next."""
    return _text(STEPS, Phrase(step.code, step.values), now)


def _text(texts: Mapping[str, Promise], line: Phrase, now: datetime) -> str:
    return str(texts[line.code]) % {name: _shown(name, value, now) for name, value in line.values.items()}


def _shown(name: str, value: Any, now: datetime) -> str:
    if value is None:
        return _("a time that is not known")
    if isinstance(value, datetime):
        moment = value.astimezone(UTC)
        return f"{moment:%H:%M:%S}" if moment.date() == now.astimezone(UTC).date() else f"{moment:%Y-%m-%d %H:%M:%S}"
    if name == "seconds":
        return duration(value)
    if name == "reason":
        return str(Reason(value).label)
    if name == "kind":
        return label_of(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
