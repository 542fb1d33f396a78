"""Rendering of diagnoses: a table for people at a terminal, JSON for scripts. Pages have ``_diagnoses.html``.

A cause comes with all that is known of it; what waits for it is one line under it, because nothing is to be done there.
"""

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.wording import CONFIDENCES

_MARKS: Final = {Status.OK: "ok", Status.FINDING: "FINDING", Status.UNKNOWN: "UNKNOWN"}
_MARK_WIDTH: Final = max(len(mark) for mark in _MARKS.values())
_GAP: Final = "  "
_LABEL_WIDTH: Final = 8
_MIN_TEXT_WIDTH: Final = 40  # characters; a narrower terminal wraps by itself


def as_text(diagnoses: Sequence[Diagnosis], *, width: int | None) -> str:
    """Return the report; texts are folded at ``width`` characters, or not at all where there is no terminal."""
    what_width = max((len(str(one.what)) for one in diagnoses), default=0)
    told = [row for one in diagnoses for row in _rows(one, what_width, width)]
    return "\n".join([*told, "", _summary(diagnoses)])


def as_json(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the report for scripts: ``{"healthy": …, "lines": [{"what", "verdict", "found", …}]}``."""
    report = {"healthy": is_healthy(diagnoses), "lines": [one.as_dict() for one in diagnoses]}
    return json.dumps(report, indent=1, ensure_ascii=False)


def is_healthy(diagnoses: Sequence[Diagnosis]) -> bool:
    """Tell whether there is nothing to do, and no question is open."""
    return all(one.status is Status.OK for one in diagnoses)


def waiting_names(diagnosis: Diagnosis) -> str:
    """Return what waits for a cause, each name once: those of the victims."""
    return ", ".join(dict.fromkeys(str(victim.what) for victim in diagnosis.victims))


def _rows(one: Diagnosis, what_width: int, width: int | None) -> Iterator[str]:
    indent = " " * (_MARK_WIDTH + what_width + 2 * len(_GAP))
    yield from _folded(
        f"{_MARKS[one.status]:<{_MARK_WIDTH}}{_GAP}{one.what!s:<{what_width}}{_GAP}", str(one.found), width
    )
    for label, text in _details(one) if one.status is not Status.OK else ():
        yield from _folded(f"{indent}{label + ':':<{_LABEL_WIDTH}}", text, width)


def _details(one: Diagnosis) -> Iterator[tuple[str, str]]:
    """Return what is said beside the finding itself, by label."""
    told = {
        "since": f"{one.since:%Y-%m-%d %H:%M:%S %Z}" if one.since else "",
        "wanted": str(one.wanted),
        "do": str(one.remedy),
        "run": one.command,
        "see": one.link,
        "owner": str(one.owner) if one.owner else "",
        "certain": str(CONFIDENCES[one.confidence]),
        "waits": waiting_names(one),
    }
    return ((label, text) for label, text in told.items() if text)


def _folded(head: str, text: str, width: int | None) -> list[str]:
    if width is None:
        return [head + text]
    room = max(width - len(head), _MIN_TEXT_WIDTH)
    first, *rest = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [head + first, *(" " * len(head) + row for row in rest)]


def _summary(diagnoses: Sequence[Diagnosis]) -> str:
    counts = Counter(one.status for one in diagnoses)
    if is_healthy(diagnoses):
        return f"All {len(diagnoses)} answers are as they should be."
    victim_count = sum(len(one.victims) for one in diagnoses)
    waiting = f", {victim_count} more wait for these" if victim_count else ""
    return (
        f"{len(diagnoses)} answers: {counts[Status.FINDING]} to be mended{waiting}, {counts[Status.UNKNOWN]} not known."
    )
