"""Rules for a message that has come to an end: done, or dead; and for long work that keeps its own row."""

from baton_messaging.diagnosis.triage.facts import Delivery, Facts
from baton_messaging.diagnosis.triage.rules.ruling import NOTHING, START_BEAT, WAIT, Ruling, start_worker
from baton_messaging.diagnosis.triage.verdict import State, Step, line


def work_failed(delivery: Delivery, _facts: Facts) -> Ruling | None:
    """The message was processed, and the work that it asked for failed."""
    work = delivery.work
    if work is None or work.state != "failed" or (delivery.letter and delivery.letter.state == "open"):
        return None
    return Ruling(State.DEAD, delivery.owner, Step("repeat_work"), True, line("work_failed", detail=work.detail))


def processed(delivery: Delivery, _facts: Facts) -> Ruling | None:
    """The inbox has it: whatever else there is, its effect is in the database, once."""
    return Ruling(State.DONE, delivery.owner, NOTHING) if delivery.processed else None


def dead(delivery: Delivery, _facts: Facts) -> Ruling | None:
    """A person must decide, or has decided."""
    letter = delivery.letter
    if letter is None:
        return None
    if letter.state == "open":
        step = Step("replay", letter_id=letter.pk, command=f"python manage.py dead_letters show {letter.pk}")
        return Ruling(State.DEAD, delivery.owner, step, True, line("reason", reason=letter.reason))
    if letter.state == "discarded":
        step = Step("decided", letter_id=letter.pk)
        return Ruling(State.DEAD, delivery.owner, step, detail=line("discarded", reason=letter.reason))
    if letter.state == "requested" and letter.requested_at is None:
        step = Step("wait_for_canary", letter_id=letter.pk)
        return Ruling(State.HELD, delivery.owner, step, detail=line("replay_planned"))
    return None


def work_running(delivery: Delivery, facts: Facts) -> Ruling | None:
    """Its own row says that somebody works on it; the lease says whether that is still true."""
    work = delivery.work
    if work is None or work.state != "running":
        return None
    if work.lease_expires_at and work.lease_expires_at > facts.now:
        return Ruling(State.RUNNING, delivery.owner, WAIT, detail=line("on_worker", worker=work.worker))
    if not any(worker.is_at_work for worker in facts.consumers_of(delivery.queue)):
        step = start_worker(delivery.queue)
        return Ruling(State.NOBODY_CONSUMES, delivery.owner, step, True, line("no_worker"))
    if not any(beat.is_at_work for beat in facts.of_role("beat")):
        return Ruling(State.RETRYING, facts.platform, START_BEAT, True, line("not_taken_up"))
    return Ruling(State.RETRYING, delivery.owner, WAIT, detail=line("taken_up"))
