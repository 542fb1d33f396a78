"""The doctor's report: a table for people, JSON for scripts."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from baton_messaging.diagnosis.doctor.examination import Observation, Status

_MARKS: Final = {Status.OK: "ok", Status.FINDING: "FINDING", Status.UNKNOWN: "UNKNOWN"}
_MARK_WIDTH: Final = max(len(mark) for mark in _MARKS.values())
_GAP: Final = "  "
_MIN_TEXT_WIDTH: Final = 40  # characters; a narrower terminal wraps by itself


def as_text(observations: Sequence[Observation], *, width: int | None) -> str:
    """Return the report; texts are folded at ``width`` characters, or not at all where there is no terminal."""
    what_width = max((len(observation.what) for observation in observations), default=0)
    told = [row for observation in observations for row in _rows(observation, what_width, width)]
    return "\n".join([*told, "", _summary(observations)])


def as_json(observations: Sequence[Observation]) -> str:
    """Return the report for scripts: ``{"healthy": …, "lines": [{"what", "verdict", "found", …}]}``."""
    report = {"healthy": is_healthy(observations), "lines": [observation.as_dict() for observation in observations]}
    return json.dumps(report, indent=1, ensure_ascii=False)


def is_healthy(observations: Sequence[Observation]) -> bool:
    """Tell whether there is nothing to do, and no question is open."""
    return all(observation.status is Status.OK for observation in observations)


def _rows(observation: Observation, what_width: int, width: int | None) -> Iterator[str]:
    indent = " " * (_MARK_WIDTH + what_width + 2 * len(_GAP))
    yield from _folded(
        f"{_MARKS[observation.status]:<{_MARK_WIDTH}}{_GAP}{observation.what:<{what_width}}{_GAP}",
        observation.found,
        width,
    )
    if observation.status is Status.OK:
        return
    for label, text in (("wanted", observation.wanted), ("do", observation.remedy), ("owner", observation.owner)):
        if text:
            yield from _folded(f"{indent}{label + ':':<8}", text, width)


def _folded(head: str, text: str, width: int | None) -> list[str]:
    if width is None:
        return [head + text]
    room = max(width - len(head), _MIN_TEXT_WIDTH)
    first, *rest = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [head + first, *(" " * len(head) + row for row in rest)]


def _summary(observations: Sequence[Observation]) -> str:
    counts = Counter(observation.status for observation in observations)
    if is_healthy(observations):
        return f"All {len(observations)} answers are as they should be."
    return f"{len(observations)} answers: {counts[Status.FINDING]} to be mended, {counts[Status.UNKNOWN]} not known."
