"""Findings report rows of the apps that contradict the messages: what sending again cannot repair.

An app contributes a check by ``@finds`` on a function without arguments in its ``findings.py``. Each check looks at a
window of the recent past, so that its price does not grow with the tables.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final

import structlog
from django.db import transaction

from baton_messaging.database.errors import is_database_away
from baton_messaging.routing.discovery import discover

log = structlog.get_logger(__name__)

# Checks look at what is older than this, when everything has had its time, and younger than that, when somebody can
# still act on it. The reconciler comes by every minute, so each row is looked at about ten times.
SETTLED_AFTER: Final = timedelta(minutes=5)
LOOKED_AT_FOR: Final = timedelta(minutes=10)
MAX_EXAMPLES: Final = 5


@dataclass(frozen=True)
class Finding:
    """Rows that contradict each other."""

    what: str
    count: int
    examples: tuple[str, ...]  # ids
    owner: str
    remedy: str

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {**asdict(self), "examples": list(self.examples)}


Check = Callable[[], Finding | None]
_checks: dict[str, Check] = {}


def finds(check: Check) -> Check:
    """Register a check: a function that returns what it found, or None."""
    _checks[f"{check.__module__}.{check.__name__}"] = check
    return check


def findings() -> list[Finding]:
    """Run all checks. One that fails is logged, and keeps no other from being run. Raises when the database is away."""
    discover("findings")
    found = [_run(name, check) for name, check in sorted(_checks.items())]
    return [finding for finding in found if finding is not None]


def _run(name: str, check: Check) -> Finding | None:
    try:
        with transaction.atomic():
            return check()
    except Exception as error:
        if is_database_away(error):
            raise
        log.exception("check_failed", check=name)
        return None
