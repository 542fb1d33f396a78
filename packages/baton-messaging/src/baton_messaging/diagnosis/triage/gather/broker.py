"""The broker's part of a snapshot, read within a deadline, also from a broker that is stopped or behind a firewall.

It is asked in a thread (health/answers.py); its sockets have timeouts, so one that is left behind ends by itself.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Final

import kombu

from baton_messaging.broker.inspect.depth import Depth, depths
from baton_messaging.broker.inspect.find import Search, locate
from baton_messaging.database.deadline import Deadline
from baton_messaging.diagnosis.triage.facts import ANSWERS, Reach
from baton_messaging.diagnosis.triage.gather.deadline import search_seconds
from baton_messaging.diagnosis.triage.gather.reach import reach_of
from baton_messaging.health.answers import Answer, NoAnswer, Question
from baton_messaging.health.broker_connection import broker_connection
from baton_messaging.messages.message_ids import ids_in_body
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE

#: Of the deadline, so that a broker which says nothing is quoted as its client puts it.
SPARE_SECONDS: Final = 0.1


@dataclass(frozen=True)
class BrokerSnapshot:
    """What the broker says. ``is_searchable``: it lets its queues be read."""

    reach: Reach = ANSWERS
    depths: dict[str, Depth] = field(default_factory=dict)
    search: Search = field(default_factory=Search)
    is_full: bool = False
    is_searchable: bool = False


def broker_question(queues: Collection[str], message_ids: Collection[str]) -> Question[BrokerSnapshot]:
    """Return the question for the depth of the queues, and where in them and in the dead-letter queue messages are."""
    seconds = search_seconds()  # here, because the thread that asks has a context of its own
    return lambda deadline: _read(queues, message_ids, seconds, deadline.earlier(SPARE_SECONDS))


def snapshot_of(answer: Answer[Any]) -> BrokerSnapshot:
    """Return what the broker said, or why it did not."""
    if answer.value is not None:
        snapshot: BrokerSnapshot = answer.value
        return snapshot
    return BrokerSnapshot(reach_of(answer.error or NoAnswer(answer.seconds), "broker"))


def _read(queues: Collection[str], message_ids: Collection[str], seconds: float, deadline: Deadline) -> BrokerSnapshot:
    with broker_connection(deadline) as broker:
        names = [*queues, DEAD_LETTER_QUEUE]
        snapshot = BrokerSnapshot(depths=depths(broker, names), is_full=_is_full(broker))
        search = locate(broker, names, message_ids, by=monotonic() + seconds, ids_in=ids_in_body)
        return replace(snapshot, search=search, is_searchable=broker.transport.driver_type == "redis")


def _is_full(broker: kombu.Connection) -> bool:
    """Tell whether Redis takes no message for want of memory. RabbitMQ says so to publishers only."""
    if broker.transport.driver_type != "redis":
        return False
    channel: Any = broker.default_channel
    with channel.conn_or_acquire() as client:
        memory = client.info("memory")
    limit = int(memory.get("maxmemory") or 0)
    return bool(limit) and int(memory["used_memory"]) >= limit
