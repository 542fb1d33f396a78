"""What a worker does with one Celery message: a bundle of sealed envelopes for one consumer.

Invariant: inbox row, effects and follow-ups of a message are one commit, and the ack comes after it. Whatever happens
to one message of a bundle, the others get through.
"""

import hashlib
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.db import Error as DatabaseError
from django.db import transaction

from messaging.apart import hand_back, take_apart
from messaging.dead_letters import bury_unreadable, claim_burial
from messaging.envelope import Envelope, unseal
from messaging.errors import BadEnvelope, BadSignature
from messaging.failures import describe, record_failure
from messaging.models.dead_letter import Reason
from messaging.outage import is_database_away, is_passing, wait_for_database
from messaging.processing import process
from messaging.statistics.redeliveries import count_redelivery
from messaging.stopping import is_being_stopped

if TYPE_CHECKING:
    from messaging.consumer import ConsumerTask

log = structlog.get_logger(__name__)

MAX_RERUNS = 3  # of a bundle in place, when the database went away under it and came back, or refused one statement


def deliver(task: "ConsumerTask", bundle: list[str]) -> None:
    """Process a bundle. Returns when it may be acknowledged: processed, recorded as failed, or handed back.

    A bundle that comes back from a killed worker is taken apart first, so that only the culprit dies.
    """
    if _was_delivered_before(task):
        count_redelivery(task.name)
        if len(bundle) > 1:
            take_apart(task, bundle)
            return
    for _ in range(MAX_RERUNS):
        try:
            _deliver_once(task, bundle)
        except DatabaseError as error:
            if not is_passing(error):
                raise
            log.warning("database_in_trouble", consumer=task.name, message_count=len(bundle))
            if not wait_for_database():
                break
        else:
            return
    hand_back(task, bundle)


def _deliver_once(task: "ConsumerTask", bundle: list[str]) -> None:
    envelopes = _readable(task, bundle)
    if len(envelopes) > 1 and task.atomic:
        try:
            process(task, envelopes)
        except SoftTimeLimitExceeded:  # the limit was for all of them; alone, each has it to itself
            take_apart(task, bundle)
        except Exception as error:
            if is_database_away(error):
                raise
            _process_one_by_one(task, envelopes)
        return
    _process_one_by_one(task, envelopes)


def _process_one_by_one(task: "ConsumerTask", envelopes: list[Envelope]) -> None:
    for envelope in envelopes:
        try:
            process(task, [envelope])
        except (Exception, SystemExit) as error:
            if is_database_away(error) or is_being_stopped(error):
                raise
            with transaction.atomic():
                record_failure(task, envelope, error)


def _readable(task: "ConsumerTask", bundle: list[str]) -> list[Envelope]:
    """Return the envelopes, each once; what is none of ours goes to the dead letters."""
    envelopes: dict[object, Envelope] = {}
    for sealed in bundle:
        try:
            envelope = unseal(sealed)
        except BadEnvelope as error:
            _bury_once(task, str(sealed), error)
        else:
            envelopes[envelope.message_id] = envelope
    return list(envelopes.values())


def _bury_once(task: "ConsumerTask", sealed: str, error: BadEnvelope) -> None:
    """Put it on the list, unless an earlier delivery of the bundle did. It has no id: where it came from stands in."""
    seen = f"{task.request.root_id or task.request.id}\x00{sealed}"
    identity = UUID(bytes=hashlib.sha256(seen.encode("utf-8", "surrogatepass")).digest()[:16])
    reason = Reason.BAD_SIGNATURE if isinstance(error, BadSignature) else Reason.UNDECODABLE
    with transaction.atomic():
        if claim_burial(identity):
            bury_unreadable(consumer=task.name, raw=sealed, reason=reason, error=describe(error))


def _was_delivered_before(task: "ConsumerTask") -> bool:
    """Tell whether the broker counts an earlier delivery: its worker was killed, or hit the hard time limit."""
    headers = task.request.headers or {}
    return int(headers.get("x-delivery-count") or 0) > 0
