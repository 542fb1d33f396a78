"""A condition says whether a server does what the work needs of it, in the server's own words where it does not."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Condition(StrEnum):
    """OK: it did the work. NOT_KNOWN: the question could not be asked. All others: it did not do the work."""

    OK = "ok"
    AWAY = "away"  # no connection, or no answer: refused, timed out, no such host, a broken certificate
    REFUSES = "refuses"  # answers, and does not do the work for now: loading, starting, a lock, a hung commit
    READ_ONLY = "read-only"  # a standby or a replica
    FULL = "full"  # memory, disk, connections, quota
    NOT_PERMITTED = "not permitted"  # login, right, certificate of the client
    DIFFERENT = "different"  # there, but not as this project declares it
    NOT_KNOWN = "not known"


@dataclass(frozen=True)
class Health:
    """What one health check found.

    ``name`` of the check, ``server`` as host:port/name without login, ``said``: the server's own words without secrets,
    values of rows or addresses of people. ``facts`` are JSON types, whatever the check has to add.
    """

    name: str
    condition: Condition
    said: str = ""
    server: str = ""
    seconds: float | None = None
    checked_at: datetime | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def does_the_work(self) -> bool:
        """Tell whether messages can go on, as far as this server is concerned."""
        return self.condition in (Condition.OK, Condition.NOT_KNOWN)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        at = self.checked_at.isoformat() if self.checked_at else None
        return {**asdict(self), "condition": str(self.condition), "checked_at": at}
