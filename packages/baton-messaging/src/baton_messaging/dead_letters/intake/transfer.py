"""One message of the dead-letter queue is transferred into the list, each message of a bundle as a row of its own.

Invariant: a message that is delivered again (its collector was killed between commit and ack) makes no second row: its
identity is claimed in the inbox by the transaction that writes the rows.
"""

import structlog
from django.db import transaction

from baton_messaging.database.errors import is_passing
from baton_messaging.dead_letters.intake.cause import Cause, cause_of_death
from baton_messaging.dead_letters.intake.expiry import drop, has_expired_as_wished
from baton_messaging.dead_letters.intake.raw_message import Arrival
from baton_messaging.dead_letters.intake.record import (
    claim_identity,
    identity_of,
    record_dead_letter,
    record_unreadable,
)
from baton_messaging.dead_letters.intake.refused import record_refused
from baton_messaging.errors import BadBundle
from baton_messaging.messages.bundle import Bundle
from baton_messaging.messages.envelope import Envelope
from baton_messaging.messages.error_description import describe, fault
from baton_messaging.models.dead_letter import Reason
from baton_messaging.routing.subscriptions import event_of, subscription_named

log = structlog.get_logger(__name__)


def collect(arrival: Arrival) -> None:
    """Write the dead letters of a message, once. What fails for a reason of its own is kept as it came."""
    try:
        _collect(arrival)
    except Exception as error:
        if is_passing(error):
            raise
        log.exception("arrival_kept_raw", task_id=arrival.task_id)
        with transaction.atomic():
            if claim_identity(arrival.identity):
                _keep(arrival, Cause(Reason.UNDECODABLE, describe(error)))


def _collect(arrival: Arrival) -> None:
    with transaction.atomic():
        if not claim_identity(arrival.identity):
            log.info("arrival_known", task_id=arrival.task_id)
            return
        if has_expired_as_wished(arrival):
            drop(arrival)
            return
        cause = cause_of_death(arrival)
        try:
            bundle = Bundle.open(arrival.consumer, arrival.argument(), event_name=event_of(arrival.consumer))
        except BadBundle as error:
            _record_foreign(arrival, cause, error)
            return
        record_refused(bundle, task_id=arrival.task_id)
        for sealed, envelope in bundle.readable.items():
            _record_one(arrival, cause, sealed, envelope)


def _record_one(arrival: Arrival, cause: Cause, sealed: str, envelope: Envelope) -> None:
    """Record one message of the bundle; one that cannot be is kept as it came, and harms no other."""
    try:
        with transaction.atomic():
            record_dead_letter(
                consumer=arrival.consumer,
                envelope=envelope,
                reason=cause.reason,
                error=cause.error,
                attempt_count=cause.run_count,
                task_id=arrival.task_id,
                queue=arrival.queue,
            )
    except Exception as error:
        if is_passing(error):
            raise
        record_unreadable(
            consumer=arrival.consumer,
            raw=sealed,
            reason=Reason.UNDECODABLE,
            error=describe(error),
            identity=identity_of(arrival.consumer, str(envelope.message_id)),
            task_id=arrival.task_id,
            queue=arrival.queue,
        )


def _record_foreign(arrival: Arrival, cause: Cause, error: BadBundle) -> None:
    """Keep what is no bundle of ours: a task that is no consumer died of what it died of, anything else of its body."""
    is_consumer = subscription_named(arrival.consumer) is not None
    if arrival.is_task and not is_consumer:
        _keep(arrival, cause)
    else:
        _keep(arrival, Cause(Reason.UNDECODABLE, fault("Undecodable", str(error))))


def _keep(arrival: Arrival, cause: Cause) -> None:
    record_unreadable(
        consumer=arrival.consumer,
        raw=arrival.as_text(),
        reason=cause.reason,
        error=cause.error,
        identity=arrival.content_identity,
        task_id=arrival.task_id,
        attempt_count=cause.run_count,
        queue=arrival.queue,
    )
