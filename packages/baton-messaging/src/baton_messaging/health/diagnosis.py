"""A diagnosis says what is wrong, whose it is, and what mends it: one type for doctor, triage, reconciler and checks.

Texts may be lazy translations (``gettext_lazy``, ``format_lazy``), so that each page shows its reader's language.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise

from baton_messaging.conf import Team
from baton_messaging.health.resource import Resource

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
