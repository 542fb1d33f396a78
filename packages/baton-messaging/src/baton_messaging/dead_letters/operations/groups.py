"""Groups gather dead letters by what they died of: eleven failures are three groups, each with one owner."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q

from baton_messaging.models import DeadLetter
from baton_messaging.models.dead_letter import DeadLetterQuerySet, Reason, State

MAX_GROUPS = 200  # a page; more kinds of failure than that at once are one failure of the platform


@dataclass(frozen=True)
class Group:
    """The unsettled dead letters with the same fingerprint."""

    fingerprint: str
    consumer: str
    owner: str
    reason: Reason
    error_class: str
    error_message: str
    open_count: int
    requested_count: int
    first_at: datetime
    last_at: datetime

    @property
    def dead_letter_count(self) -> int:
        """Return how many dead letters the group has."""
        return self.open_count + self.requested_count

    @property
    def is_readable(self) -> bool:
        """Tell whether its dead letters are messages of ours, which can be replayed."""
        return self.reason != Reason.UNDECODABLE


def groups_of(dead_letters: DeadLetterQuerySet, *, limit: int = MAX_GROUPS) -> list[Group]:
    """Return the groups of unsettled dead letters, the one that grew last first. Two queries."""
    counted: Any = (
        dead_letters.unsettled()
        .order_by()
        .values("fingerprint", "consumer", "reason", "error_class")
        .annotate(
            owner=Max("owner"),
            open_count=Count("pk", filter=Q(state=State.OPEN)),
            requested_count=Count("pk", filter=Q(state=State.REQUESTED)),
            first_at=Min("first_failed_at"),
            last_at=Max("died_at"),
            newest=Max("pk"),
        )
        .order_by("-last_at", "fingerprint")
    )
    rows: list[dict[str, Any]] = list(counted[:limit])
    newest = DeadLetter.objects.filter(pk__in=[row["newest"] for row in rows])
    texts: dict[int, str] = dict(newest.values_list("pk", "error_message"))
    return [
        Group(error_message=texts.get(row.pop("newest"), ""), reason=Reason(row.pop("reason")), **row) for row in rows
    ]
