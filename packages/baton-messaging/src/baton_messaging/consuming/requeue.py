"""A bundle is requeued: whole, because the database is away, or split, because one message may be the culprit.

Both send copies first and let the original be acknowledged afterwards: killed in between, the messages are there
twice, and the inbox absorbs that. A copy starts a delivery count of its own.
"""

from collections.abc import Iterator
from uuid import UUID

import structlog
from amqp.exceptions import MessageNacked
from celery.exceptions import Reject

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.consuming.task import Task
from baton_messaging.errors import BadEnvelope
from baton_messaging.messages.envelope import unseal
from baton_messaging.routing.send import send_bundle

log = structlog.get_logger(__name__)

REFUSALS = (*BROKER_ERRORS, MessageNacked)  # away, full, or its queue is full or gone


def requeue_bundle(task: Task, bundle: list[str]) -> None:
    """Put the bundle at the tail of its queue, unchanged. Raises Reject (requeue) when the broker takes nothing."""
    try:
        _send(task, [bundle])
    except REFUSALS as error:
        raise Reject(error, requeue=True) from error
    log.warning("requeued", consumer=task.name, message_count=len(bundle))


def split_bundle(task: Task, bundle: list[str]) -> None:
    """Put each message of the bundle into the queue alone. Raises REFUSALS, when some may have been sent."""
    _send(task, [[sealed] for sealed in bundle])
    log.warning("bundle_split", consumer=task.name, message_count=len(bundle))


def _send(task: Task, bundles: list[list[str]]) -> None:
    for bundle in bundles:
        send_bundle(task.name, bundle, message_ids=list(_ids(bundle)))


def _ids(bundle: list[str]) -> Iterator[UUID]:
    for sealed in bundle:
        try:
            yield unseal(sealed).message_id
        except BadEnvelope:
            continue
