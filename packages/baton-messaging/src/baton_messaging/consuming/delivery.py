"""A bundle is delivered: one Celery message with the sealed envelopes of one consumer.

Invariant: inbox row, effects and follow-ups of a message are one commit, and the ack comes after it. Whatever happens
to one message of a bundle, the others get through.
"""

import hashlib
from contextlib import suppress
from uuid import UUID

import structlog
from celery.exceptions import Reject, SoftTimeLimitExceeded
from django.db import Error as DatabaseError
from django.db import transaction

from baton_messaging.consuming.failures import record_failure
from baton_messaging.consuming.requeue import REFUSALS, requeue_bundle, split_bundle
from baton_messaging.consuming.shutdown import is_being_stopped, is_time_up
from baton_messaging.consuming.task import Task
from baton_messaging.consuming.transaction import process
from baton_messaging.database.errors import is_database_there, is_database_trouble, is_passing, wait_for_database
from baton_messaging.dead_letters import claim_identity, record_unreadable
from baton_messaging.errors import BadEnvelope, BadSignature
from baton_messaging.flow_control.parking import park
from baton_messaging.messages.envelope import Envelope, unseal
from baton_messaging.messages.error_description import describe
from baton_messaging.models import Minute
from baton_messaging.models.dead_letter import Reason

log = structlog.get_logger(__name__)

MAX_RERUNS = 3  # of a bundle in place, when the database went away under it and came back, or refused one statement


def deliver(task: Task, bundle: list[str]) -> None:
    """Process a bundle. Returns when it may be acknowledged: processed, recorded as failed, or requeued.

    A bundle that comes back from a killed worker is split first, so that only the culprit dies.
    """
    if _was_delivered_before(task):
        Minute.objects.count_redelivery(task.name)
        if len(bundle) > 1:
            _split(task, bundle)
            return
    try:
        is_settled = _run(task, bundle)
    except SoftTimeLimitExceeded:  # it came while the database was asked, or waited for
        is_settled = False
    if not is_settled:
        requeue_bundle(task, bundle)


def _run(task: Task, bundle: list[str]) -> bool:
    """Tell whether the bundle is settled. If not, the database is in trouble, and nothing is known to have failed."""
    for run_number in range(MAX_RERUNS):
        try:
            return _deliver_once(task, bundle, has_whole_limit=run_number == 0)
        except DatabaseError as error:
            if not is_passing(error):
                raise
            log.warning("database_in_trouble", consumer=task.name, message_count=len(bundle))
            if is_time_up(error):
                return _end_over_time(task, bundle, error)
            if not wait_for_database():
                return False
    return False


def _end_over_time(task: Task, bundle: list[str], error: DatabaseError) -> bool:
    """End what has had its time if the database is there: if not, that is why. Tell whether the bundle is settled."""
    with suppress(DatabaseError):
        if is_database_there():
            limit = SoftTimeLimitExceeded()
            limit.__cause__ = error
            _settle_over_time(task, bundle, _readable(task, bundle), limit)
            return True
    return False


def _settle_over_time(task: Task, bundle: list[str], envelopes: list[Envelope], limit: SoftTimeLimitExceeded) -> None:
    """Let those that had the limit together have it each to itself. One alone dies of it."""
    if len(envelopes) > 1:
        _split(task, bundle)
        return
    for envelope in envelopes:
        _record(task, envelope, limit)


def _split(task: Task, bundle: list[str]) -> None:
    """Let each message be tried alone. Where the broker takes none they wait in the database.

    Given back to such a broker the bundle would come again and again, and at its delivery limit all of it be dead.
    It is given back where the time is up before all were sent: none of them has failed, and the next delivery goes on
    counting, so that a bundle that kills its worker comes to an end.
    """
    try:
        split_bundle(task, bundle)
    except SoftTimeLimitExceeded as limit:
        raise Reject(limit, requeue=True) from limit
    except REFUSALS as refusal:
        try:
            park(task.name, _readable(task, bundle))
        except DatabaseError:
            raise Reject(refusal, requeue=True) from refusal


def _deliver_once(task: Task, bundle: list[str], *, has_whole_limit: bool) -> bool:
    """Tell whether the bundle is settled. What the database has left of the time limit is not held against it."""
    envelopes = _readable(task, bundle)
    try:
        if not (len(envelopes) > 1 and task.atomic and _process_together(task, envelopes)):
            _process_one_by_one(task, envelopes)
    except SoftTimeLimitExceeded as limit:
        if not has_whole_limit:
            return False
        _settle_over_time(task, bundle, envelopes, limit)
    return True


def _process_together(task: Task, envelopes: list[Envelope]) -> bool:
    try:
        process(task, envelopes)
    except SoftTimeLimitExceeded:
        raise
    except Exception as error:
        if is_database_trouble(error):
            raise
        return False
    return True


def _process_one_by_one(task: Task, envelopes: list[Envelope]) -> None:
    for envelope in envelopes:
        try:
            process(task, [envelope])
        except (Exception, SystemExit) as error:
            if is_database_trouble(error) or is_being_stopped(error) or isinstance(error, SoftTimeLimitExceeded):
                raise
            _record(task, envelope, error)


@transaction.atomic
def _record(task: Task, envelope: Envelope, error: BaseException) -> None:
    record_failure(task, envelope, error)


def _readable(task: Task, bundle: list[str]) -> list[Envelope]:
    """Return the envelopes, each once; what is none of ours goes to the dead letters."""
    envelopes: dict[object, Envelope] = {}
    for sealed in bundle:
        try:
            envelope = unseal(sealed)
        except BadEnvelope as error:
            _record_unreadable_once(task, str(sealed), error)
        else:
            envelopes[envelope.message_id] = envelope
    return list(envelopes.values())


def _record_unreadable_once(task: Task, sealed: str, error: BadEnvelope) -> None:
    """Put it on the list, unless an earlier delivery of the bundle did. It has no id: where it came from stands in."""
    seen = f"{task.request.root_id or task.request.id}\x00{sealed}"
    identity = UUID(bytes=hashlib.sha256(seen.encode("utf-8", "surrogatepass")).digest()[:16])
    reason = Reason.BAD_SIGNATURE if isinstance(error, BadSignature) else Reason.UNDECODABLE
    with transaction.atomic():
        if claim_identity(identity):
            record_unreadable(consumer=task.name, raw=sealed, reason=reason, error=describe(error))


def _was_delivered_before(task: Task) -> bool:
    """Tell whether the broker counts an earlier delivery: its worker was killed, or hit the hard time limit."""
    headers = task.request.headers or {}
    return int(headers.get("x-delivery-count") or 0) > 0
