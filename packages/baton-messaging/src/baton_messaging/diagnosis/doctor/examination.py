"""An examination: a question about the installation, and the diagnoses that answer it.

The doctor's register: ``@examines`` adds a function, in the package's own modules and in an app's ``doctor.py``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from baton_messaging.health import resource
from baton_messaging.health.diagnosis import Diagnosis, Text, observed
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.routing.discovery import Registry

Examine = Callable[[], Iterable[Diagnosis]]

DATABASE, BROKER = "database", "broker"
DEADLINE_SECONDS: Final = 2.0
#: What an examination needs, by the name that it says so with.
RESOURCES: Final = {DATABASE: resource.DATABASE, BROKER: resource.BROKER}


@dataclass(frozen=True)
class Examination:
    """A question, or several to one server; not asked while one of ``needs`` has no answer.

    ``is_quick``: a few cheap statements to the database, so that the board asks it, too, every few seconds.
    """

    name: str
    examine: Examine
    needs: tuple[str, ...] = ()
    deadline_seconds: float = DEADLINE_SECONDS
    is_quick: bool = False

    @property
    def about(self) -> Resource:
        """Return what it is about while it has no answer of its own."""
        return RESOURCES.get(self.name) or Resource(Kind.DATA if DATABASE in self.needs else Kind.SERVICE, self.name)


_REGISTER: Registry[str, Examination] = Registry("doctor")


def examines(
    name: str, *, needs: tuple[str, ...] = (), deadline_seconds: float = DEADLINE_SECONDS, is_quick: bool = False
) -> Callable[[Examine], Examine]:
    """Register a function that returns diagnoses: ``@examines("storage of exports")`` in an app's ``doctor.py``.

    It runs in a thread of its own and may raise: that leaves its question open, and no other. Hazard: what takes longer
    than its deadline is not waited for, and goes on until the process ends.
    """

    def register(function: Examine) -> Examine:
        _REGISTER.add(name, Examination(name, function, needs, deadline_seconds, is_quick))
        return function

    return register


def all_examinations() -> list[Examination]:
    """Return the examinations of all apps, in the order in which they were registered."""
    return list(_REGISTER.all().values())


def or_well(diagnoses: Iterable[Diagnosis], what: Text, *, found: Text, wanted: Text = "") -> list[Diagnosis]:
    """Return the diagnoses; if there are none, that all is well."""
    return list(diagnoses) or [observed(True, what, found=found, wanted=wanted or found, remedy="")]
