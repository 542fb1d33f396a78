"""One round over the future messages moves those that are due into the outbox.

It asks twice in RELAY_POLL_SECONDS, however fast the relay goes round: no message is later than that, and a stream of
others pays nothing for those that wait.
"""

from time import monotonic

import structlog

from baton_messaging.conf import baton
from baton_messaging.models import FutureMessage

log = structlog.get_logger(__name__)


class FutureRound:
    """Knows when it was asked last."""

    def __init__(self) -> None:
        self._asked_at = float("-inf")

    def release(self) -> int:
        """Move what is due, a batch at most; return how many. A full batch is asked about again at once."""
        config = baton()
        if monotonic() - self._asked_at < config.relay_poll_seconds / 2:
            return 0
        count = FutureMessage.objects.release_due(limit=config.relay_batch_size)
        if count < config.relay_batch_size:
            self._asked_at = monotonic()
        if count:
            log.info("future_messages_due", message_count=count)
        return count
