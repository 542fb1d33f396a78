"""What the doctor prints: a table for people, JSON for scripts."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from baton_messaging.diagnosis.doctor.lines import Line, Verdict

_MARKS: Final = {Verdict.OK: "ok", Verdict.FINDING: "FINDING", Verdict.UNKNOWN: "UNKNOWN"}
_MARK_WIDTH: Final = max(len(mark) for mark in _MARKS.values())
_GAP: Final = "  "
_MIN_TEXT_WIDTH: Final = 40  # characters; a narrower terminal wraps by itself


def as_text(lines: Sequence[Line], *, width: int | None) -> str:
    """Return the report; texts are folded at ``width`` characters, or not at all where there is no terminal."""
    what_width = max((len(line.what) for line in lines), default=0)
    told = [row for line in lines for row in _rows(line, what_width, width)]
    return "\n".join([*told, "", _summary(lines)])


def as_json(lines: Sequence[Line]) -> str:
    """Return the report for scripts: ``{"healthy": …, "lines": [{"what", "verdict", "found", …}]}``."""
    report = {"healthy": is_healthy(lines), "lines": [line.as_dict() for line in lines]}
    return json.dumps(report, indent=1, ensure_ascii=False)


def is_healthy(lines: Sequence[Line]) -> bool:
    """Tell whether there is nothing to do, and no question is open."""
    return all(line.verdict is Verdict.OK for line in lines)


def _rows(line: Line, what_width: int, width: int | None) -> Iterator[str]:
    indent = " " * (_MARK_WIDTH + what_width + 2 * len(_GAP))
    yield from _folded(f"{_MARKS[line.verdict]:<{_MARK_WIDTH}}{_GAP}{line.what:<{what_width}}{_GAP}", line.found, width)
    if line.verdict is Verdict.OK:
        return
    for label, text in (("wanted", line.wanted), ("do", line.remedy), ("owner", line.owner)):
        if text:
            yield from _folded(f"{indent}{label + ':':<8}", text, width)


def _folded(head: str, text: str, width: int | None) -> list[str]:
    if width is None:
        return [head + text]
    room = max(width - len(head), _MIN_TEXT_WIDTH)
    first, *rest = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [head + first, *(" " * len(head) + row for row in rest)]


def _summary(lines: Sequence[Line]) -> str:
    counts = Counter(line.verdict for line in lines)
    if is_healthy(lines):
        return f"All {len(lines)} answers are as they should be."
    return f"{len(lines)} answers: {counts[Verdict.FINDING]} to be mended, {counts[Verdict.UNKNOWN]} not known."
