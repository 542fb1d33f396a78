"""An examination: a question about the installation, and the observations that answer it.

The doctor's register: ``@examines`` adds a function, in the package's own modules and in an app's ``doctor.py``.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from baton_messaging.routing.discovery import discover
from baton_messaging.routing.ownership import platform_owner


class Status(StrEnum):
    """OK; FINDING: there is something to mend; UNKNOWN: the question is open, because no server answered it."""

    OK = "ok"
    FINDING = "finding"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Observation:
    """One answer. ``remedy`` and ``owner`` are empty where all is well."""

    what: str
    status: Status
    found: str
    wanted: str = ""
    remedy: str = ""
    owner: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types. Scripts know the status by the name ``verdict``."""
        fields = asdict(self)
        return {"what": fields.pop("what"), "verdict": str(fields.pop("status")), **fields}


def observed(is_right: bool, what: str, *, found: str, wanted: str, remedy: str, owner: str = "") -> Observation:
    """Return the observation: with the remedy and its owner (the platform's unless given) if it is not right."""
    if is_right:
        return Observation(what, Status.OK, found, wanted)
    return Observation(what, Status.FINDING, found, wanted, remedy, owner or str(platform_owner()))


def unknown(what: str, *, found: str, remedy: str) -> Observation:
    """Return the observation of a question that stays open."""
    return Observation(what, Status.UNKNOWN, found, "an answer", remedy, str(platform_owner()))


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


Examine = Callable[[], Iterable[Observation]]

DATABASE, BROKER = "database", "broker"
DEADLINE_SECONDS: Final = 2.0


@dataclass(frozen=True)
class Examination:
    """A question, or several to one server; not asked while one of ``needs`` has no answer."""

    name: str
    examine: Examine
    needs: tuple[str, ...] = ()
    deadline_seconds: float = DEADLINE_SECONDS


_REGISTER: dict[str, Examination] = {}


def examines(
    name: str, *, needs: tuple[str, ...] = (), deadline_seconds: float = DEADLINE_SECONDS
) -> Callable[[Examine], Examine]:
    """Register a function that returns observations: ``@examines("storage of exports")`` in an app's ``doctor.py``.

    It runs in a thread of its own and may raise: that leaves its question open, and no other. Hazard: what takes longer
    than its deadline is not waited for, and goes on until the process ends.
    """

    def register(function: Examine) -> Examine:
        _REGISTER[name] = Examination(name, function, needs, deadline_seconds)
        return function

    return register


def all_examinations() -> list[Examination]:
    """Return the examinations of all apps, in the order in which they were registered."""
    discover("doctor")
    return list(_REGISTER.values())
