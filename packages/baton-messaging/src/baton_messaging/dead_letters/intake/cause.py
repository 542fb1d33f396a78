"""A cause is told for a death: the broker says how a message left its queue, the worker's notes what happened there.

A rejected message of which there is no note died of what can be seen of it: its body, its task, its signature.
"""

from dataclasses import dataclass

from baton_messaging.broker.dead_letter_headers import DELIVERY_LIMIT
from baton_messaging.dead_letters.intake.raw_message import Arrival
from baton_messaging.messages.error_description import ErrorDescription, fault
from baton_messaging.models import Interruption
from baton_messaging.models.dead_letter import EXPIRED_BY_POLICY, Reason
from baton_messaging.models.interruption import InterruptionKind
from baton_messaging.routing.subscriptions import is_registered


@dataclass(frozen=True)
class Cause:
    """The cause, and what is known of the error."""

    reason: Reason
    error: ErrorDescription
    run_count: int = 0


def cause_of_death(arrival: Arrival) -> Cause:
    """Return why the message died. Reads the notes: one query."""
    notes = list(Interruption.objects.filter(task_id=arrival.task_id).order_by("pk")) if arrival.task_id else []
    if arrival.death is not None and arrival.death.reason == DELIVERY_LIMIT:
        return _of_limit(arrival, notes)
    if arrival.has_expired_early or arrival.has_expired:
        return _of_expiry(arrival)
    kinds = {note.kind for note in notes}
    if InterruptionKind.REVOKED in kinds:
        return Cause(Reason.REVOKED, fault("Revoked", "the task was revoked by remote control"))
    if InterruptionKind.UNKNOWN_TASK in kinds or not is_registered(arrival.consumer):
        text = f"the worker's release has no task {arrival.consumer!r}; deploy one that has, or redirect"
        return Cause(Reason.UNKNOWN_TASK, fault("UnknownTask", text))
    failed = next((note for note in reversed(notes) if note.kind == InterruptionKind.FAILED), None)
    if failed:
        is_time_up = failed.detail.startswith("SoftTimeLimitExceeded")
        return Cause(Reason.TIME_LIMIT if is_time_up else Reason.PERMANENT_ERROR, _of_failure(failed), run_count=1)
    broker_s = arrival.death.reason if arrival.death else "unknown"
    return Cause(Reason.PERMANENT_ERROR, fault("Rejected", f"rejected by its worker (broker's reason: {broker_s})"))


def _of_expiry(arrival: Arrival) -> Cause:
    if not arrival.has_expired_early:
        return Cause(Reason.EXPIRED, fault("Expired", f"expired at {arrival.expires_at or 'its time to live'}"))
    text = f"the broker let it expire in queue {arrival.queue}: a policy sets a time to live there, no sender did"
    return Cause(Reason.EXPIRED, fault(EXPIRED_BY_POLICY, text))


def _of_limit(arrival: Arrival, notes: list[Interruption]) -> Cause:
    """Tell a hard time limit from a killed process; without a note a whole worker died, with its main process."""
    last = next(
        (note for note in reversed(notes) if note.kind in (InterruptionKind.TIME_LIMIT, InterruptionKind.KILLED)), None
    )
    runs = sum(note.kind in (InterruptionKind.TIME_LIMIT, InterruptionKind.KILLED) for note in notes)
    if last is None:
        text = "returned to its queue too often without an answer: its workers died, or requeued it"
        return Cause(Reason.KILLED_WORKER, fault("WorkerLost", text), run_count=runs)
    if last.kind == InterruptionKind.TIME_LIMIT:
        text = f"hard time limit ({last.detail}) exceeded in {runs} runs"
        return Cause(Reason.TIME_LIMIT, fault("TimeLimitExceeded", text), run_count=runs)
    return Cause(Reason.KILLED_WORKER, fault("WorkerLost", last.detail or "killed"), run_count=runs)


def _of_failure(note: Interruption) -> ErrorDescription:
    error_class, _, text = note.detail.partition(": ")
    return fault(error_class, text, traceback=note.traceback)
