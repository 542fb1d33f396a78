"""A message counts as lost by a rule, and the reconciler waits until the rule says so.

Triage asks here, too, so that what it announces is what happens. It may know earlier that a message is lost, because it
looks for that one.

A message that was sent to a queue is lost when nothing of it is left in the database (no inbox row, no retry that
waits, no dead letter), no living worker has it in flight, it was sent longer ago than a grace, and one of these holds:

    queue empty    its queue has nothing waiting, and nothing that a worker has taken
    overtaken      messages of the same queue that were sent well after it have been processed

Neither can be said while the broker holds a dead letter: what died and was not collected is in no table, and sent again
it would kill again.

So with a queue that is merely long nothing is lost (F78): it is not empty, and what was sent later comes later. The
rule may err towards "lost" where order is broken on purpose (a bundle requeued goes to the tail), which costs one
more copy; the inbox absorbs it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from baton_messaging.broker.inspect.depth import Depth
from baton_messaging.conf import baton

LATER_COUNT: Final = 10  # processed messages that were sent later: one may have come by another way, ten have not
SENT_AGAIN: Final = "LostByBroker"  # the error of attempt 0 by which a lost first delivery leaves again
MARGIN: Final = timedelta(minutes=1)  # by which they were later: a relay marks a whole round at its end

Proof = Literal["queue empty", "overtaken"]
Wait = Literal["collector", "grace", "queue"]


@dataclass(frozen=True)
class QueueState:
    """What is known of one queue. Times by the database's clock."""

    queue: str
    depth: Depth
    looked_at: datetime
    # When the LATER_COUNT-th newest of the messages that were processed was sent; None when so many are not known.
    served_until: datetime | None
    # Every living worker of the queue has said since the look what it holds. RabbitMQ does not tell what was taken.
    is_in_flight_known: bool
    # Dead letters that the collector has not fetched: any of them may be the message that is looked for.
    uncollected_count: int = 0

    @property
    def is_empty(self) -> bool:
        """Tell whether no message is in the queue, nor on its way from it to a worker."""
        if self.depth.waiting:
            return False
        return self.is_in_flight_known if self.depth.taken is None else self.depth.taken == 0

    @property
    def lost_before(self) -> datetime | None:
        """Return the time such that what was sent before it, and is nowhere, is lost; None when nothing can be said."""
        if self.uncollected_count:
            return None
        in_grace_since = self.looked_at - grace()
        if self.is_empty:
            return in_grace_since
        if self.served_until is None:
            return None
        return min(self.served_until - MARGIN, in_grace_since)


def proof_of_loss(sent_at: datetime, state: QueueState) -> Proof | None:
    """Return why a message that was last sent at ``sent_at``, and is nowhere else, is lost; None when it is not."""
    if state.lost_before is None or sent_at >= state.lost_before:
        return None
    return "queue empty" if state.is_empty else "overtaken"


def wait_for_proof(sent_at: datetime, state: QueueState) -> Wait | None:
    """Return what must come before the reconciler sends a message again that is nowhere else; None: it sends it now.

    ``collector``: the dead-letter queue must be emptied. ``grace``: the message is too young. ``queue``: its queue must
    get empty, or later messages of it must be processed.
    """
    if proof_of_loss(sent_at, state):
        return None
    if state.uncollected_count:
        return "collector"
    return "grace" if sent_at >= state.looked_at - grace() else "queue"


def grace() -> timedelta:
    """Return how long after it was sent a message is never looked at."""
    return timedelta(seconds=baton().reconcile_grace_seconds)
