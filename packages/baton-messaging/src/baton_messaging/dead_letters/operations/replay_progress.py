"""The progress of a replay: how many of its dead letters are resolved, under way, held back, or died again."""

from dataclasses import dataclass

from django.db.models import Count, Q

from baton_messaging.models import Replay
from baton_messaging.models.dead_letter import State


@dataclass(frozen=True)
class ReplayProgress:
    """How far the dead letters of a replay are."""

    resolved: int
    under_way: int
    held: int
    died: int

    @property
    def total(self) -> int:
        """Return how many dead letters there are."""
        return self.resolved + self.under_way + self.held + self.died

    @property
    def percent(self) -> int:
        """Return how many of a hundred are resolved."""
        return 100 * self.resolved // self.total if self.total else 100

    def is_over_for(self, order: Replay) -> bool:
        """Tell whether nothing more of the replay will happen by itself."""
        return not self.under_way and (not self.held or order.stopped_at is not None)


def progress_of(order: Replay) -> ReplayProgress:
    """Count the dead letters of a replay by where they are, in one query."""
    asked_for = Q(requested_at__isnull=False)
    counts = order.dead_letters.aggregate(
        resolved=Count("pk", filter=Q(state=State.RESOLVED)),
        under_way=Count("pk", filter=Q(state=State.REQUESTED)),
        held=Count("pk", filter=Q(state=State.OPEN) & ~asked_for),
        died=Count("pk", filter=Q(state=State.OPEN) & asked_for),
    )
    return ReplayProgress(**counts)
