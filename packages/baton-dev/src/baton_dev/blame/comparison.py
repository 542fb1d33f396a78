"""Comparisons judge what each view says of a fault by the truth, and find where two views contradict each other."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from baton_messaging.diagnosis.triage.verdict import State

from baton_dev.blame.catalogue import Question, Truth
from baton_dev.blame.client import Said
from baton_dev.blame.stack import Stack

#: How long each view may take; doctor asks everything there is, and the reconciler has a minute.
MAX_SECONDS: Final = {"doctor": 6.0, "reconciler": 30.0}
USUAL_MAX_SECONDS: Final = 2.0
#: What triage may say of a message's rows where progress says the key …
REFINES: Final[Mapping[str, frozenset[State]]] = {
    "done": frozenset({State.DONE}),
    "dead": frozenset({State.DEAD}),
    "queued": frozenset(
        {State.QUEUED, State.RUNNING, State.NOBODY_CONSUMES, State.LOST, State.HELD, State.UNKNOWN, State.ELSEWHERE}
    ),
    "retrying": frozenset({State.RETRYING, State.HELD, State.RELAY_STALLED}),
    "waiting": frozenset({State.WAITING, State.RETRYING, State.HELD, State.RELAY_STALLED}),
}
#: … and where it looks beyond them: at an app's own row of long work, and into the dead-letter queue.
BEYOND_ROWS: Final[Mapping[str, frozenset[State]]] = {
    "done": frozenset({State.RUNNING, State.RETRYING, State.NOBODY_CONSUMES, State.DEAD}),
    "queued": frozenset({State.DEAD}),
}
#: In these the reconciler may find that the message is nowhere.
MAYBE_LOST: Final = frozenset({State.LOST, State.ELSEWHERE, State.UNKNOWN, State.QUEUED, State.NOBODY_CONSUMES})


class Mark(StrEnum):
    """PARTLY: whose it is is right, and something that helps is missing. SILENT: nothing was said, nor had to be."""

    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "WRONG"
    SILENT = "-"


@dataclass(frozen=True)
class Opinion:
    """What one view said of a fault, how right that is, and what is wrong with it."""

    view: str
    mark: Mark
    said: str = ""
    wrong: str = ""
    seconds: float = 0.0

    @property
    def is_right(self) -> bool:
        """Tell whether nothing is to be mended."""
        return self.mark in (Mark.RIGHT, Mark.SILENT)

    def __str__(self) -> str:
        return f"{self.view} {self.mark}: {self.wrong}" if self.wrong else f"{self.view} {self.mark}"


def of_triage(said: Said, question: Question, truth: Truth, stack: Stack) -> Opinion:
    """Judge state, owner, cause and step of the verdict on the consumer that was asked about."""
    if said.error:
        return Opinion("triage", Mark.WRONG, wrong=said.error)
    verdicts = {one["consumer"]: one for one in said.report["verdicts"]}
    verdict = verdicts.get(question.consumer) or verdicts.get("")  # the row's, where the tables cannot be asked
    if verdict is None:
        return Opinion("triage", Mark.WRONG, wrong=f"no verdict on {question.consumer or 'the row itself'}")
    told = f"{verdict['state_text']} · {verdict['owner_name']}"
    texts = _texts(verdict)
    surely = " and sure" if verdict.get("confidence", "") == "sure" else ""
    if verdict["state"] not in truth.states_on(stack):
        return Opinion("triage", Mark.WRONG, told, f"the state{surely} ({texts})")
    if verdict["owner_name"] != truth.owner:
        return Opinion("triage", Mark.WRONG, told, f"the owner{surely} ({texts})")
    missing = "".join(_missing(verdict, truth))
    return Opinion("triage", Mark.PARTLY if missing else Mark.RIGHT, told, missing)


def _missing(verdict: dict[str, Any], truth: Truth) -> Iterator[str]:
    """Return what of cause and step a verdict with the right state and owner lacks."""
    texts = _texts(verdict)
    if lacking := [pattern for pattern in truth.says if not _has(pattern, texts)]:
        yield f"nothing about {lacking} ({texts}) "
    step = json.dumps(verdict["next_step"], ensure_ascii=False)
    if not _has(truth.step, step):
        yield f"the step has no {truth.step!r} ({step})"


def of_stuck_list(said: Said, question: Question, truth: Truth) -> Opinion:
    """Judge the owner of the group that has the id: what is young or settled stands in none."""
    if said.error:
        return Opinion("stuck", Mark.WRONG, wrong=said.error)
    groups = [one for one in said.report.get("groups", ()) if question.id in one.get("examples", ())]
    mine = [one for one in groups if one["consumer"] == question.consumer or one.get("cause")]
    if not mine:
        return Opinion("stuck", Mark.SILENT)
    told = " | ".join(f"{one['state']} · {one['owner']} · {one.get('cause', '')}" for one in mine)
    if not any(_is_of(truth.owner, one["owner"]) for one in mine):
        return Opinion("stuck", Mark.WRONG, told, f"the owner ({told})")
    return Opinion("stuck", Mark.RIGHT, told)


def of_progress(said: Said, question: Question, truth: Truth, stack: Stack) -> Opinion:
    """Judge the state that the row's own page shows: one that triage's refines. Its owner is whose the step is."""
    if said.error:  # a page about rows may fail without the database
        return Opinion("progress", Mark.SILENT, said.error)
    states = [one["state"] for one in said.report if one["consumer"] == question.consumer]
    if not states:
        return Opinion("progress", Mark.SILENT)
    told = " | ".join(states)
    refined = [REFINES[state] | BEYOND_ROWS.get(state, frozenset()) for state in states]
    if any(possible.isdisjoint(truth.states_on(stack)) for possible in refined):
        return Opinion("progress", Mark.WRONG, told, f"the state ({told})")
    return Opinion("progress", Mark.RIGHT, told)


def of_reconciler(said: Said, question: Question, truth: Truth, stack: Stack) -> Opinion:
    """Judge what would be sent again: nothing of a message that every other view sees somewhere."""
    if said.error or not said.report.get(question.consumer):
        return Opinion("reconciler", Mark.SILENT, said.error)
    told = f"{said.report[question.consumer]} lost"
    if MAYBE_LOST.isdisjoint(truth.states_on(stack)):
        return Opinion("reconciler", Mark.WRONG, told, told)
    return Opinion("reconciler", Mark.RIGHT, told)


def of_findings(view: str, said: Said, truth: Truth, stack: Stack) -> Opinion:
    """Judge doctor or board: is the cause among the findings, with its owner, and is no victim to be started?"""
    if said.error:
        return Opinion(view, Mark.WRONG, wrong=said.error)
    lines = [line for line in said.report["lines"] if line["verdict"] != "ok"]
    told = " | ".join(f"{line['what']}: {line['found']} · {line['owner']}" for line in lines) or "all is well"
    if blamed := list(_blamed(lines, truth.victims_in(stack))):
        return Opinion(view, Mark.WRONG, told, f"blames {blamed} ({told})")
    if not truth.doctor:
        return Opinion(view, Mark.SILENT, told)
    named = [line for line in lines if _has(truth.doctor, _texts(line))]
    if not named:
        mark = Mark.WRONG if view == "doctor" else Mark.PARTLY  # the board has only what is quickly asked
        return Opinion(view, mark, told, f"nothing about {truth.doctor!r} ({told})")
    if not any(_is_of(truth.owner, line["owner"]) for line in named):
        return Opinion(view, Mark.WRONG, told, f"the owner ({told})")
    return Opinion(view, Mark.RIGHT, told)


def of_dead_letters(view: str, said: Said, question: Question, truth: Truth) -> Opinion:
    """Judge the owner that desk or alert name, where the message is dead."""
    if said.error:  # a page about rows may fail without the database
        return Opinion(view, Mark.SILENT, said.error)
    mine = [one for one in said.report if one["consumer"] == question.consumer]
    if not mine:
        return Opinion(view, Mark.SILENT)
    told = " | ".join(sorted({one["owner"] for one in mine}))
    if not any(_is_of(truth.owner, one["owner"]) for one in mine):
        return Opinion(view, Mark.WRONG, told, f"the owner ({told})")
    return Opinion(view, Mark.RIGHT, told)


def of_life(name: str, said: Said, truth: Truth, stack: Stack) -> Opinion:
    """Judge what `alive` says of a process: one that only waits is never dead, nor does it end of that."""
    view, code, text = f"alive {name}", said.code, said.report or said.error
    if (ended := stack.processes[name].exit_code) is not None:
        text = f"{text} Its process has ended with {ended}."
    answer = "dead" if code else "cannot tell" if re.search("cannot tell|waits for", str(text), re.I) else "alive"
    wanted = truth.alive.get(name)
    is_right = answer == wanted if wanted else answer != "dead"
    return Opinion(view, Mark.RIGHT if is_right else Mark.WRONG, answer, "" if is_right else f"{answer} ({text})")


def in_time(opinion: Opinion, seconds: float, *, patience: float) -> Opinion:
    """Return the opinion with the time that the answer took, which may be too long."""
    limit = MAX_SECONDS.get(opinion.view, USUAL_MAX_SECONDS) * patience
    mark, wrong = opinion.mark, opinion.wrong
    if seconds > limit:
        mark = Mark.WRONG if mark is Mark.WRONG else Mark.PARTLY
        wrong = f"{wrong}; after {seconds:.1f} s".lstrip("; ")
    return Opinion(opinion.view, mark, opinion.said, wrong, seconds)


def _blamed(lines: Sequence[dict[str, Any]], victims: Sequence[str]) -> Iterator[str]:
    """Return the victims that a finding of its own tells to start."""
    for victim in victims:
        order = rf"\b(re)?start\b[^.]*\b{re.escape(victim)}\b"
        if any(_has(order, f"{line['remedy']} {line.get('command', '')}") for line in lines):
            yield victim


def _texts(answer: dict[str, Any]) -> str:
    """Return all that an answer says of the cause, as one text: what is to be done is not part of it."""
    names = ("state_text", "what", "found", "evidence", "open_questions", "cause")
    return " ".join(_text(answer.get(name)) for name in names if answer.get(name))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(_text(value.get(name)) for name in ("what", "found"))
    return " ".join(map(_text, value)) if isinstance(value, list) else str(value or "")


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _is_of(owner: str, told: str) -> bool:
    """Tell whether a team is named, with its address or without."""
    return told == owner or told.startswith(f"{owner} <")
