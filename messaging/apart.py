"""Give a bundle back to its queue: whole, because the database is away, or taken apart, because one may be a culprit.

Both send copies first and let the original be acknowledged afterwards: killed in between, the messages are there
twice, and the inbox absorbs that. A copy starts a delivery count of its own.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from celery.exceptions import Reject
from kombu.exceptions import OperationalError as BrokerAway

from messaging.envelope import unseal
from messaging.errors import BadEnvelope
from messaging.sending import send_bundle

if TYPE_CHECKING:
    from messaging.consumer import ConsumerTask

log = structlog.get_logger(__name__)


def hand_back(task: "ConsumerTask", bundle: list[str]) -> None:
    """Put the bundle at the tail of its queue, unchanged. Raises Reject (requeue) when the broker is away, too."""
    _send(task, [bundle])
    log.warning("handed_back", consumer=task.name, message_count=len(bundle))


def take_apart(task: "ConsumerTask", bundle: list[str]) -> None:
    """Put each message of the bundle into the queue alone. Raises Reject (requeue) when the broker is away."""
    _send(task, [[sealed] for sealed in bundle])
    log.warning("taken_apart", consumer=task.name, message_count=len(bundle))


def _send(task: "ConsumerTask", bundles: list[list[str]]) -> None:
    try:
        for bundle in bundles:
            send_bundle(task.name, bundle, message_ids=list(_ids(bundle)))
    except BrokerAway as error:
        raise Reject(error, requeue=True) from error


def _ids(bundle: list[str]) -> Iterator[UUID]:
    for sealed in bundle:
        try:
            yield unseal(sealed).message_id
        except BadEnvelope:
            continue
