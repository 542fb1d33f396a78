"""The register of what the doctor asks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from baton_messaging.diagnosis.doctor.lines import Line
from baton_messaging.routing.discovery import discover

Examine = Callable[[], Iterable[Line]]

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
    """Register a function that returns lines: ``@examines("storage of exports")`` in an app's ``doctor.py``.

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
