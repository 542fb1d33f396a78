"""Leases of running messages are renewed: the visibility timeout can be short, and no running task runs twice.

A delivery that no worker renews for ``visibility_timeout`` seconds goes back to its queue. Workers renew theirs from
their event loop every ``lease_renewal_seconds``, also while the pool drains at a warm shutdown; consumers without a
loop (``drain_events``) renew between two messages. The pool is what matters: with ``prefork`` and ``threads`` the loop
is free while tasks run. With ``solo`` the loop *is* the task, and a thread renews instead (worker/consumer.py).

Hazard: whatever keeps the loop from turning for the visibility timeout (SIGSTOP, a swapping machine, a broker that does
not answer) makes its messages run elsewhere as well. The inbox makes that one effect.
"""

from threading import get_ident
from time import monotonic
from typing import Any

import structlog
from kombu.transport import redis as kombu_redis
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)


class LeasePoller(kombu_redis.MultiChannelPoller):
    """kombu's poller of all channels of a connection, which also keeps their leases."""

    lease_renewal_seconds: float = 5.0
    unacked_restore_interval: float = 5.0
    loop_thread: int | None = None  # of a worker; other consumers have no event loop
    _renewed_at = float("-inf")
    _restored_at = float("-inf")

    @property
    def is_turned_by_this_thread(self) -> bool:
        """Tell whether we run in an event loop that comes by here at the end of its turn."""
        return self.loop_thread == get_ident()

    def renew_leases(self) -> None:
        """Renew now. A connection that fails is no reason to stop: the next renewal opens a new one."""
        self._renewed_at = monotonic()
        for channel in list(self._channels):
            if channel._qos is None:
                continue
            try:
                channel.qos.renew()
            except (*channel.connection_errors, RedisError) as error:
                log.warning("leases_not_renewed", error_class=type(error).__name__)

    def maybe_restore_messages(self) -> None:
        """Requeue what dead workers had unacked. Ours are renewed first: after a standstill we look dead."""
        self.renew_leases()
        self._restored_at = monotonic()
        try:
            super().maybe_restore_messages()
        except RedisError as error:
            log.warning("overdue_deliveries_not_returned", error_class=type(error).__name__)

    def get(self, callback: Any, timeout: float | None = None) -> Any:
        """Wait for one event; consumers without an event loop come by here at least once a second."""
        now = monotonic()
        if now - self._renewed_at >= self.lease_renewal_seconds:
            self.renew_leases()
        if now - self._restored_at >= self.unacked_restore_interval:
            self.maybe_restore_messages()
        return super().get(callback, timeout=timeout)
