"""A worker proves that it takes work: its queues are looked at, for a ping proves nothing (F43).

Busy is not dead: without room nothing is asked. Idle is not dead: then the queues are empty. What is left is a worker
that has room, whose queues hold messages each time for HEARTBEAT_STALE_SECONDS, and which has received none
meanwhile. Of a single time another worker may simply have been faster.
"""

from time import monotonic
from typing import Any, Final

import kombu
import structlog

from baton_messaging.broker.inspect.depth import depths
from baton_messaging.broker.rabbitmq.blocking import is_still_blocked
from baton_messaging.broker.rabbitmq.timeouts import answering_within
from baton_messaging.conf import baton

log = structlog.get_logger(__name__)

DEADLINE_SECONDS: Final = 2.0  # for all queues; the event loop waits meanwhile, once per beat


class Intake:
    """Remembers since when messages wait that this worker should have taken."""

    def __init__(self) -> None:
        self._received_count = -1
        self._idle_with_work_since: float | None = None

    def is_flowing(self, consumer: Any, *, queues: list[str], room: int) -> bool:
        """Ask the queues; tell whether the worker has its broker and takes what is there."""
        if not consumer.is_receiving:
            self._idle_with_work_since = None
            return False
        has_received = consumer.received_count != self._received_count
        self._received_count = consumer.received_count
        if has_received or room <= 0:
            self._idle_with_work_since = None
            return True
        return self._ask_queues(consumer.connection, queues)

    def _ask_queues(self, broker: kombu.Connection, queues: list[str]) -> bool:
        try:
            if is_still_blocked(broker, seconds=0):  # it takes no question either, and no ack
                return False
            with answering_within(broker, DEADLINE_SECONDS):
                waiting = sum(depth.waiting for depth in depths(broker, queues).values())
        except Exception as error:  # the broker is away, and the consumer will notice by itself
            log.warning("queues_not_looked_at", error_class=type(error).__name__)
            return False
        if not waiting:
            self._idle_with_work_since = None
            return True
        now = monotonic()
        self._idle_with_work_since = self._idle_with_work_since or now
        stalled_seconds: float = baton().heartbeat_stale_seconds
        return now - self._idle_with_work_since < stalled_seconds
