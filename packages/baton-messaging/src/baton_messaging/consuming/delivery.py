"""A bundle is delivered: one Celery message with the sealed envelopes of one consumer.

Invariant: inbox row, effects and follow-ups of a message are one commit, and the ack comes after it. Whatever happens
to one message of a bundle, the others get through.
"""

from contextlib import suppress

import structlog
from celery.exceptions import Reject, SoftTimeLimitExceeded
from django.db import Error as DatabaseError
from django.db import transaction

from baton_messaging.conf import baton
from baton_messaging.consuming.blocked import was_blocked, was_kept_out
from baton_messaging.consuming.failures import record_failure
from baton_messaging.consuming.requeue import REFUSALS, requeue_bundle, split_bundle
from baton_messaging.consuming.shutdown import is_being_stopped, is_time_up
from baton_messaging.consuming.task import Task
from baton_messaging.consuming.transaction import process_alone, process_together
from baton_messaging.database.errors import is_database_there, is_database_trouble, is_passing, wait_for_database
from baton_messaging.dead_letters import record_bad_body, record_refused
from baton_messaging.errors import BadBundle
from baton_messaging.flow_control.parking import park
from baton_messaging.messages.bundle import Bundle
from baton_messaging.messages.envelope import Envelope
from baton_messaging.models import Minute

log = structlog.get_logger(__name__)

MAX_RERUNS = 3  # of a bundle in place, when the database went away under it and came back, or refused one statement


def deliver(task: Task, sealed: object) -> None:
    """Process a bundle. Returns when it may be acknowledged: processed, recorded as failed, or requeued.

    A bundle that comes back from a killed worker is split first, so that only the culprit dies.
    """
    try:
        bundle = Bundle.open(
            task.name, sealed, event_name=task.event.event_name, max_age_seconds=baton().max_message_age_seconds
        )
    except BadBundle as error:
        record_bad_body(task.name, sealed, error)
        return
    if _was_delivered_before(task):
        Minute.objects.count_redelivery(task.name)
        if len(bundle) > 1:
            _split(bundle)
            return
    try:
        is_settled = _run(task, bundle)
    except SoftTimeLimitExceeded:  # it came while the database was asked, or waited for
        is_settled = False
    if not is_settled:
        requeue_bundle(bundle)


def _run(task: Task, bundle: Bundle) -> bool:
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


def _deliver_once(task: Task, bundle: Bundle, *, has_whole_limit: bool) -> bool:
    """Tell whether the bundle is settled. What the database has left of the time limit is not held against it."""
    record_refused(bundle)
    try:
        if not _may_run_together(task, bundle) or not _run_together(task, bundle):
            _run_one_by_one(task, bundle)
    except SoftTimeLimitExceeded as limit:
        if not has_whole_limit or was_blocked():
            return False
        _settle_over_time(task, bundle, limit)
    return True


def _may_run_together(task: Task, bundle: Bundle) -> bool:
    """Decide, once and for all: several messages of a transaction's handler share one, everything else runs alone."""
    return task.atomic and len(bundle.readable) > 1


def _run_together(task: Task, bundle: Bundle) -> bool:
    """Tell whether that settled all of them; if not, nothing of it is written."""
    try:
        process_together(task, bundle.envelopes)
    except SoftTimeLimitExceeded:
        raise
    except Exception as error:
        if is_database_trouble(error):
            raise
        return False
    return True


def _run_one_by_one(task: Task, bundle: Bundle) -> None:
    for envelope in bundle.envelopes:
        try:
            process_alone(task, envelope)
        except (Exception, SystemExit) as error:
            if is_database_trouble(error) or is_being_stopped(error) or isinstance(error, SoftTimeLimitExceeded):
                raise
            if was_kept_out(error):
                raise
            _record(task, envelope, error)


def _end_over_time(task: Task, bundle: Bundle, error: DatabaseError) -> bool:
    """End what has had its time, unless the database is away or a session blocked it. Tell whether it is settled."""
    with suppress(DatabaseError):
        if is_database_there() and not was_blocked():
            limit = SoftTimeLimitExceeded()
            limit.__cause__ = error
            _settle_over_time(task, bundle, limit)
            return True
    return False


def _settle_over_time(task: Task, bundle: Bundle, limit: SoftTimeLimitExceeded) -> None:
    """Let those that had the limit together have it each to itself. One alone dies of it."""
    if len(bundle.readable) > 1:
        _split(bundle)
        return
    for envelope in bundle.envelopes:
        _record(task, envelope, limit)


def _split(bundle: Bundle) -> None:
    """Let each message be tried alone. Where the broker takes none they wait in the database.

    Given back to such a broker the bundle would come again and again, and at its delivery limit all of it be dead.
    It is given back where the time is up before all were sent: none of them has failed, and the next delivery goes on
    counting, so that a bundle that kills its worker comes to an end.
    """
    try:
        split_bundle(bundle)
    except SoftTimeLimitExceeded as limit:
        raise Reject(limit, requeue=True) from limit
    except REFUSALS as refusal:
        try:
            record_refused(bundle)
            park(bundle.consumer, bundle.envelopes)
        except DatabaseError:
            raise Reject(refusal, requeue=True) from refusal


@transaction.atomic
def _record(task: Task, envelope: Envelope, error: BaseException) -> None:
    record_failure(task, envelope, error)


def _was_delivered_before(task: Task) -> bool:
    """Tell whether the broker counts an earlier delivery: its worker was killed, or hit the hard time limit."""
    count = (task.request.headers or {}).get("x-delivery-count")
    return isinstance(count, int) and count > 0
