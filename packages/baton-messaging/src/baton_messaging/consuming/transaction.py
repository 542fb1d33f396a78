"""One transaction claims the messages in the inbox, runs the handler, records what failed, and commits.

Invariant: a message that another delivery has claimed is skipped; one that fails leaves no inbox row.
"""

import time
from collections.abc import Callable
from uuid import UUID

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from baton_messaging.consuming.failures import record_failure
from baton_messaging.consuming.shutdown import is_being_stopped
from baton_messaging.consuming.task import Task
from baton_messaging.database.errors import is_database_trouble, messaging_statements
from baton_messaging.flow_control.holds import current_holds
from baton_messaging.flow_control.parking import park
from baton_messaging.messages import tracing
from baton_messaging.messages.context import messages_in_flight
from baton_messaging.messages.envelope import Envelope
from baton_messaging.models import ProcessedMessage

log = structlog.get_logger(__name__)

SWALLOWED = (
    "Expected the handler to leave its transaction intact, got one that must be rolled back: it caught a database "
    "error. Put the statement that may fail into a transaction.atomic() block of its own."
)
Run = Callable[[Task, list[Envelope]], dict[UUID, int]]  # returns milliseconds by message_id


def process_alone(task: Task, envelope: Envelope) -> None:
    """Process one message. Raises what the handler raised, with nothing written."""
    if not task.atomic:
        _process_long(task, envelope)
    else:
        _process(task, [envelope], run=_run_list if task.bundle else _run_each)


def process_together(task: Task, envelopes: list[Envelope]) -> None:
    """Process several messages in one transaction.

    Of a handler for one, those that fail are recorded in the commit that settles the others. A handler for a list
    raises what it raised, with nothing written.
    """
    if task.bundle:
        _process(task, envelopes, run=_run_list)
        return
    try:  # hoping for the best: savepoints double the statements, and are needed only if a message fails
        _process(task, envelopes, run=_run_each)
    except SoftTimeLimitExceeded:
        raise
    except (Exception, SystemExit) as error:
        if is_database_trouble(error):
            raise
        _process(task, envelopes, run=_run_each_in_a_savepoint)


def _process(task: Task, envelopes: list[Envelope], *, run: Run) -> None:
    with transaction.atomic():
        with messaging_statements():
            fresh = _claim(task, envelopes)
        durations = run(task, fresh)
        with messaging_statements():
            ProcessedMessage.objects.finish(consumer=task.name, durations_ms=durations)
    _log_processed(
        task, [one for one in fresh if one.message_id in durations], repeated_count=len(envelopes) - len(fresh)
    )


def _claim(task: Task, envelopes: list[Envelope]) -> list[Envelope]:
    """Return the envelopes that are new. What is held is parked, by the same commit."""
    claimed = ProcessedMessage.objects.claim_unless_held(
        consumer=task.name,
        event=task.event.event_name,
        message_ids=[envelope.message_id for envelope in envelopes],
        worker=task.request.hostname or "",
    )
    if len(claimed) < len(envelopes):  # processed before, or held: whichever it is by now
        others = [envelope for envelope in envelopes if envelope.message_id not in claimed]
        claimed |= _claim_let_through(task, _without_held(task, others))
    return [envelope for envelope in envelopes if envelope.message_id in claimed]


def _without_held(task: Task, envelopes: list[Envelope]) -> list[Envelope]:
    holds = current_holds()
    held = [envelope for envelope in envelopes if holds.on_envelope(task.name, envelope)]
    park(task.name, held)
    return [envelope for envelope in envelopes if envelope not in held]


def _claim_let_through(task: Task, envelopes: list[Envelope]) -> set[UUID]:
    """Claim whatever is held or not: it was let through before."""
    return ProcessedMessage.objects.claim(
        consumer=task.name,
        message_ids=[envelope.message_id for envelope in envelopes],
        worker=task.request.hostname or "",
    )


def _run(task: Task, envelope: Envelope) -> int:
    started = time.monotonic()
    with messages_in_flight([envelope]), tracing.handling(task.name, [envelope]):
        task.handler(envelope.event())
    return _milliseconds_since(started)


def _run_each(task: Task, envelopes: list[Envelope]) -> dict[UUID, int]:
    return {envelope.message_id: _run(task, envelope) for envelope in envelopes}


def _run_list(task: Task, envelopes: list[Envelope]) -> dict[UUID, int]:
    if not envelopes:
        return {}
    started = time.monotonic()
    with messages_in_flight(envelopes), tracing.handling(task.name, envelopes):
        task.handler([envelope.event() for envelope in envelopes])
    return dict.fromkeys((envelope.message_id for envelope in envelopes), _milliseconds_since(started))


def _run_each_in_a_savepoint(task: Task, envelopes: list[Envelope]) -> dict[UUID, int]:
    durations: dict[UUID, int] = {}
    failed: list[tuple[Envelope, BaseException]] = []
    for envelope in envelopes:
        try:
            durations[envelope.message_id] = _run_in_a_savepoint(task, envelope)
        except SoftTimeLimitExceeded:
            raise
        except (Exception, SystemExit) as failure:
            if is_database_trouble(failure) or is_being_stopped(failure) or not connection.is_usable():
                raise  # where it took the connection along, each is tried alone, on one of its own
            failed.append((envelope, failure))
    if failed:
        failed_ids = [envelope.message_id for envelope, _error in failed]
        ProcessedMessage.objects.release(consumer=task.name, message_ids=failed_ids)
        for envelope, error in failed:
            record_failure(task, envelope, error)
    return durations


@transaction.atomic
def _run_in_a_savepoint(task: Task, envelope: Envelope) -> int:
    duration = _run(task, envelope)
    if transaction.get_rollback():  # atomic() would roll back without a word, and the message would count as done
        raise TransactionManagementError(SWALLOWED)
    return duration


def _process_long(task: Task, envelope: Envelope) -> None:
    """Run a handler that keeps its own state in transactions of its own; the inbox row follows when it returns.

    Hazard: a worker killed in between runs it again, so the handler must find its own work done.
    """
    with messaging_statements():
        standing = ProcessedMessage.objects.standing(
            consumer=task.name, event=task.event.event_name, message_id=envelope.message_id
        )
        if standing == "processed" or (standing == "maybe held" and not _without_held(task, [envelope])):
            return
    duration = _run(task, envelope)
    with messaging_statements(), transaction.atomic():
        _claim_let_through(task, [envelope])
        ProcessedMessage.objects.finish(consumer=task.name, durations_ms={envelope.message_id: duration})
    _log_processed(task, [envelope], repeated_count=0)


def _milliseconds_since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)


def _log_processed(task: Task, done: list[Envelope], *, repeated_count: int) -> None:
    """Log one event for the bundle, with the correlation of each message that was processed."""
    correlation_ids = sorted({str(envelope.correlation_id) for envelope in done})
    log.info(
        "processed",
        consumer=task.name,
        message_count=len(done),
        repeated_count=repeated_count,
        correlation_id=",".join(correlation_ids),
    )
