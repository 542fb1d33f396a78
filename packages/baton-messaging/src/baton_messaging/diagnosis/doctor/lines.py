"""One line of what the doctor says: what was asked, what was found, what is wanted, what to do, and whose it is."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from baton_messaging.routing.ownership import platform_owner


class Verdict(StrEnum):
    """OK; FINDING: somebody has something to do; UNKNOWN: the question is open, because nobody answered it."""

    OK = "ok"
    FINDING = "finding"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Line:
    """One answer. ``remedy`` and ``owner`` are empty where all is well."""

    what: str
    verdict: Verdict
    found: str
    wanted: str = ""
    remedy: str = ""
    owner: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return asdict(self)


def judged(is_right: bool, what: str, *, found: str, wanted: str, remedy: str, owner: str = "") -> Line:
    """Return the line: with the remedy and its owner (the platform's unless given) if it is not right."""
    if is_right:
        return Line(what, Verdict.OK, found, wanted)
    return Line(what, Verdict.FINDING, found, wanted, remedy, owner or str(platform_owner()))


def unknown(what: str, *, found: str, remedy: str) -> Line:
    """Return the line of a question that stays open."""
    return Line(what, Verdict.UNKNOWN, found, "an answer", remedy, str(platform_owner()))


def count_of(count: int, noun: str) -> str:
    """Return the count with its noun.

    >>> count_of(1, "dead letter"), count_of(2_000, "dead letter")
    ('1 dead letter', '2,000 dead letters')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return a length of time as a person says it, in one unit.

    >>> duration(0.2), duration(59), duration(3_700), duration(200_000)
    ('0.2 s', '59 s', '61 min', '55 h')
    """
    if seconds < 10:  # noqa: PLR2004 - a digit after the point tells nothing any more
        return f"{seconds:.1f} s"
    if seconds < 600:  # noqa: PLR2004 - ten minutes
        return f"{seconds:.0f} s"
    if seconds < 36_000:  # noqa: PLR2004 - ten hours
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.0f} h"
