"""A bundle is requeued: whole, because the database is away, or split, because one message may be the culprit.

Both send copies first and let the original be acknowledged afterwards: killed in between, the messages are there
twice, and the inbox absorbs that. A copy starts a delivery count of its own.
"""

from collections.abc import Iterable

import structlog
from amqp.exceptions import MessageNacked
from celery.exceptions import Reject

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.messages.bundle import Bundle
from baton_messaging.routing.send import send_bundle

log = structlog.get_logger(__name__)

REFUSALS = (*BROKER_ERRORS, MessageNacked)  # away, full, or its queue is full or gone


def requeue_bundle(bundle: Bundle) -> None:
    """Put the bundle at the tail of its queue, unchanged. Raises Reject (requeue) when the broker takes nothing."""
    try:
        _send([bundle])
    except REFUSALS as error:
        raise Reject(error, requeue=True) from error
    log.warning("requeued", consumer=bundle.consumer, message_count=len(bundle))


def split_bundle(bundle: Bundle) -> None:
    """Put each message of the bundle into the queue alone. Raises REFUSALS, when some may have been sent."""
    _send(bundle.parts())
    log.warning("bundle_split", consumer=bundle.consumer, message_count=len(bundle))


def _send(bundles: Iterable[Bundle]) -> None:
    for bundle in bundles:
        send_bundle(bundle.consumer, bundle.sealed, message_ids=bundle.message_ids)
