"""A subscription that has brought nothing for a while is made anew: RabbitMQ may have forgotten it.

When a quorum queue is deleted and at once declared again (by a script, another worker, the relay), RabbitMQ 3 does not
cancel its consumers. It takes them for those of a queue that has failed over, subscribes them to the new queue by
itself, and then loses track of them: each counts as a consumer, is given as many messages as it may hold, and none of
them ever leaves the broker. Nothing that a client may ask tells such a consumer from another. RabbitMQ 4 cancels it.

Invariant: only a worker that has nothing in flight renews, and it reads first what is on its way to it.
Hazards: a message that the broker believes to have delivered goes back to its queue, which counts as a delivery; a
worker for several queues is not idle while one of them keeps it busy.
Why it is done so: docs/decisions/an-idle-worker-subscribes-anew.md.
"""

from typing import Any, Final

from amqp.exceptions import ChannelError, RecoverableConnectionError
from celery.worker.state import reserved_requests

from baton_messaging.broker.rabbitmq.blocking import is_still_blocked
from baton_messaging.broker.rabbitmq.timeouts import answering_within

RENEWAL_SECONDS: Final = 20.0  # without a message, until a subscription is renewed
DEADLINE_SECONDS: Final = 5.0  # for the broker's answer: the event loop waits meanwhile


class Renewal:
    """Renews the subscription of one worker, and of one connection."""

    def __init__(self, worker: Any) -> None:
        self._worker = worker  # baton_messaging.worker.consumer.Consumer
        self._received_count = -1

    def renew_if_idle(self) -> None:
        """Renew unless something has come since the last call. Raises the connection's errors, also for a channel's."""
        worker = self._worker
        has_received = worker.received_count != self._received_count
        self._received_count = worker.received_count
        if has_received or reserved_requests or not worker.is_receiving:
            return
        if is_still_blocked(worker.connection, seconds=0):  # it would not be heard
            return
        try:
            with answering_within(worker.connection, DEADLINE_SECONDS):
                self._renew()
        except ChannelError as error:  # the queue is declared otherwise by now, or gone: whoever connects deals with it
            raise RecoverableConnectionError(f"subscription not renewed: {error}") from error

    def _renew(self) -> None:
        worker, subscription = self._worker, self._worker.task_consumer
        subscription.cancel()  # whatever was on its way has come before the answer
        if worker.received_count == self._received_count:
            subscription.channel.close()
            subscription.revive(worker.connection.channel())
            subscription.qos(prefetch_count=worker.qos.value, apply_global=worker.qos_global)
        subscription.consume()
