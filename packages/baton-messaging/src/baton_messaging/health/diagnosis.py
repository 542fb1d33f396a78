"""A diagnosis says what is wrong, whose it is, and what mends it: one type for doctor, triage, reconciler and checks.

Texts may be lazy translations (``gettext_lazy``, ``format_lazy``), so that each page shows its reader's language.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import Team
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.routing.ownership import platform_owner

Text = str | Promise


class Status(StrEnum):
    """OK; FINDING: there is something to mend; UNKNOWN: the question is open, because no server answered it."""

    OK = "ok"
    FINDING = "finding"
    UNKNOWN = "unknown"


class Confidence(StrEnum):
    """SURE: proved by a check; LIKELY: explains all that is seen; OPEN: says which question is not answered."""

    SURE = "sure"
    LIKELY = "likely"
    OPEN = "not known"


@dataclass(frozen=True)
class Diagnosis:
    """One answer about one resource. ``remedy``, ``command``, ``link`` and ``owner`` are empty where all is well.

    ``found`` is the evidence, a sentence with numbers and names; ``remedy`` the step that mends it, ``command`` the
    same to be pasted into a shell, with the names filled in. ``stops_work``: what needs the resource waits for it, so
    that findings about those are explained by this one, and stand under it as ``victims``. ``needs``: what this finding
    waits for beyond what its resource needs anyway, of which one by itself may be the reason. ``concerns``: services
    that its process works with otherwise than the others do: what is done there is not where it is looked for.
    """

    about: Resource
    what: Text
    status: Status
    found: Text
    wanted: Text = ""
    remedy: Text = ""
    owner: Team | None = None
    command: str = ""
    link: str = ""
    confidence: Confidence = Confidence.SURE
    since: datetime | None = None
    stops_work: bool = False
    victims: tuple["Diagnosis", ...] = ()
    needs: tuple[Resource, ...] = ()
    concerns: tuple[Resource, ...] = ()

    def with_victims(self, victims: tuple["Diagnosis", ...]) -> "Diagnosis":
        """Return it with those that it explains."""
        return replace(self, victims=victims)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types, in the active language. Scripts know the status by the name ``verdict``."""
        return {
            "about": str(self.about),
            "what": str(self.what),
            "verdict": str(self.status),
            "found": str(self.found),
            "wanted": str(self.wanted),
            "remedy": str(self.remedy),
            "command": self.command,
            "link": self.link,
            "owner": str(self.owner) if self.owner else "",
            "confidence": str(self.confidence),
            "since": self.since.isoformat() if self.since else None,
            "stops_work": self.stops_work,
            "victims": [victim.as_dict() for victim in self.victims],
        }


def finding(
    about: Resource,
    what: Text,
    *,
    found: Text,
    remedy: Text,
    wanted: Text = "",
    owner: Team | None = None,
    command: str = "",
    link: str = "",
    confidence: Confidence = Confidence.SURE,
    since: datetime | None = None,
    stops_work: bool = False,
) -> Diagnosis:
    """Return the diagnosis of what is to be mended: by the platform's team, unless another owner is named."""
    return Diagnosis(
        about, what, Status.FINDING, found, wanted, remedy, owner or platform_owner(), command, link, confidence, since,
        stops_work,
    )  # fmt: skip


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
    return finding(
        about,
        what,
        found=found,
        wanted=wanted,
        remedy=remedy,
        owner=owner,
        command=command,
        link=link,
        since=since,
        stops_work=stops_work,
    )


def inferred(diagnosis: Diagnosis) -> Diagnosis:
    """Return it as likely only, where it finds something: that nothing was heard of a process proves no death."""
    return replace(diagnosis, confidence=Confidence.LIKELY) if diagnosis.status is Status.FINDING else diagnosis


def unanswered(about: Resource, what: Text, *, found: Text) -> Diagnosis:
    """Return the diagnosis of a question that stays open, because its server did not answer."""
    return Diagnosis(
        about,
        what,
        Status.UNKNOWN,
        found,
        _("an answer"),
        _("Look whether that server is there and not overloaded, then ask again."),
        platform_owner(),
        command="python manage.py doctor",
        confidence=Confidence.OPEN,
    )
