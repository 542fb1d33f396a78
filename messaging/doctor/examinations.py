"""The register of what the doctor asks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils.module_loading import autodiscover_modules

from messaging.doctor.lines import Line

Examine = Callable[[], Iterable[Line]]

DATABASE, BROKER = "database", "broker"


@dataclass(frozen=True)
class Examination:
    """A question, or several to one server; not asked while one of ``needs`` has no answer."""

    name: str
    examine: Examine
    needs: tuple[str, ...] = ()


_REGISTER: dict[str, Examination] = {}


def examines(name: str, *, needs: tuple[str, ...] = ()) -> Callable[[Examine], Examine]:
    """Register a function that returns lines: ``@examines("storage of exports")`` in an app's ``doctor.py``.

    It runs in a thread of its own and may raise: that leaves its question open, and no other. Hazard: what takes longer
    than two seconds is not waited for.
    """

    def register(function: Examine) -> Examine:
        _REGISTER[name] = Examination(name, function, needs)
        return function

    return register


def all_examinations() -> list[Examination]:
    """Return the examinations of all apps, in the order in which they were registered."""
    autodiscover_modules("doctor")
    return list(_REGISTER.values())
