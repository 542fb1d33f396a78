"""An examination: a question about the installation, and the diagnoses that answer it.

The doctor's register: ``@examines`` adds a function, in the package's own modules and in an app's ``doctor.py``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import Team
from baton_messaging.health import resource
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status, Text
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.routing.discovery import Registry
from baton_messaging.routing.ownership import platform_owner

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


def observed(
    is_right: bool,
    what: Text,
    *,
    found: Text,
    wanted: Text,
    remedy: Text,
    owner: Team | None = None,
    about: Resource | None = None,
    command: str = "",
    link: str = "",
    since: datetime | None = None,
    stops_work: bool = False,
) -> Diagnosis:
    """Return the diagnosis: with the remedy and its owner (the platform's unless given) if it is not right.

    ``about``: a resource, so that what waits for it is shown under it; ``stops_work``: nothing that needs it works.
    """
    about = about or Resource(Kind.SERVICE, str(what))
    if is_right:
        return Diagnosis(about, what, Status.OK, found, wanted)
    return Diagnosis(
        about,
        what,
        Status.FINDING,
        found,
        wanted,
        remedy,
        owner or platform_owner(),
        command=command,
        link=link,
        since=since,
        stops_work=stops_work,
    )


def unknown(examination: Examination, *, found: Text, remedy: Text, command: str = "") -> Diagnosis:
    """Return the diagnosis of a question that stays open."""
    return Diagnosis(
        examination.about,
        examination.name,
        Status.UNKNOWN,
        found,
        _("an answer"),
        remedy,
        platform_owner(),
        command=command,
        confidence=Confidence.OPEN,
    )
