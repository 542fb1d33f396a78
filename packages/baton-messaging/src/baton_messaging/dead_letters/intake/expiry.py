"""What expired as its sender wished is dropped and counted: a tick of beat, or a plain task, sent with ``expires``.

RabbitMQ makes ``expires`` the message's time to live and dead-letters what outlives it, so an hour without a worker
would leave a dead letter per tick for a person to decide about. On Redis the worker drops it when its turn comes. Here
both end alike: with one line in the log and a count (``baton_expiry``).

Not dropped: a consumer's message, which is work that no process does again; and what a policy of the broker let expire
before its own time, for its sender did not ask for that.
"""

from typing import Final

import structlog

from baton_messaging.dead_letters.intake.raw_message import Arrival
from baton_messaging.models import Expiry
from baton_messaging.routing.subscriptions import is_registered, subscription_named

log = structlog.get_logger(__name__)

#: Whoever can write to the broker can make up names of tasks: they are counted together.
UNKNOWN_TASK: Final = "(unknown)"


def has_expired_as_wished(arrival: Arrival) -> bool:
    """Tell whether it is over as its sender asked, and no work of ours is lost with it."""
    if not arrival.is_task or subscription_named(arrival.consumer) is not None or not arrival.has_expired:
        return False
    return arrival.expires_at is not None and not arrival.has_expired_early


def drop(arrival: Arrival) -> None:
    """Count it. Call inside the transaction that claims its identity."""
    task = arrival.consumer if is_registered(arrival.consumer) else UNKNOWN_TASK
    Expiry.objects.count_up(task)
    log.info("task_expired", task=arrival.consumer, task_id=arrival.task_id, expires_at=str(arrival.expires_at))
