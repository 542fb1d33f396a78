"""Rules for a message that has come to an end: done, or dead; and for long work that keeps its own row."""

from baton_messaging.diagnosis.triage.delivery_facts import DeadLetterFacts, Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.rules.causes import beneath, is_signer_gone, step_of
from baton_messaging.diagnosis.triage.rules.conclusion import NOTHING, WAIT, Conclusion, start_beat, start_worker
from baton_messaging.diagnosis.triage.verdict import State, Step, phrase
from baton_messaging.health.diagnosis import Confidence, Diagnosis
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.messages.position import Position


def work_failed(delivery: Delivery, _facts: Facts) -> Conclusion | None:
    """The message was processed, and the work that it asked for failed."""
    work = delivery.work
    if work is None or work.state != "failed" or (delivery.dead_letter and delivery.dead_letter.state == "open"):
        return None
    return Conclusion(State.DEAD, delivery.owner, Step("repeat_work"), True, phrase("work_failed", detail=work.detail))


def processed(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """The inbox has it: its effect was written, once, unless what the app's checks found says otherwise.

    Sure only where a check has looked for that effect: a trigger, a policy or another mail server may have eaten it.
    """
    if delivery.position is not Position.PROCESSED:
        return None
    contradiction = next((one for one in facts.contradictions if delivery.consumer in one.consumers), None)
    found = contradiction or _done_elsewhere(delivery, facts)
    if found is None:
        is_checked = delivery.consumer in facts.checked_consumers
        confidence = Confidence.SURE if is_checked else Confidence.LIKELY
        return Conclusion(State.DONE, delivery.owner, NOTHING, confidence=confidence)
    cause = beneath(contradiction, delivery.consumer, facts) if contradiction else found
    owner, detail = cause.owner or facts.platform, phrase("done_but", what=found.what)
    return Conclusion(State.DONE, owner, step_of(cause), True, detail, confidence=cause.confidence, cause=cause)


def _done_elsewhere(delivery: Delivery, facts: Facts) -> Diagnosis | None:
    """Return that the worker which has processed it works with another server than the others do."""
    worker = delivery.processed.worker if delivery.processed else ""
    services = {*facts.needs.get(Resource(Kind.CONSUMER, delivery.consumer), ())}
    return next(
        (one for one in facts.causes if services & {*one.concerns} and worker in one.about.name.split(", ")), None
    )


def dead(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """A person must decide, or has decided.

    Sure only where the consumer itself has said that the message is to blame, and asked nobody else: any other error
    may be of something else, and a server that refuses one message may refuse all.
    """
    dead_letter = delivery.dead_letter
    if dead_letter is None:
        return None
    if dead_letter.state == "open" and (again := _signed_anew(delivery, dead_letter, facts)):
        return again
    if dead_letter.state == "open":
        step = Step(
            "replay", dead_letter_id=dead_letter.pk, command=f"python manage.py dead_letters show {dead_letter.pk}"
        )
        needed = facts.needs.get(Resource(Kind.CONSUMER, delivery.consumer), ())
        asks_others = any(one.kind is Kind.SERVICE for one in needed)
        is_sure = dead_letter.is_permanent and not asks_others
        confidence = Confidence.SURE if is_sure else Confidence.LIKELY
        detail = phrase("reason", reason=dead_letter.reason)
        return Conclusion(State.DEAD, delivery.owner, step, True, detail, confidence=confidence)
    if dead_letter.state == "discarded":
        step = Step("decided", dead_letter_id=dead_letter.pk)
        detail = phrase("discarded", reason=dead_letter.reason)
        return Conclusion(State.DEAD, delivery.owner, step, detail=detail, confidence=Confidence.SURE)
    if delivery.position is Position.REPLAY_PLANNED:
        step = Step("wait_for_canary", dead_letter_id=dead_letter.pk)
        detail = phrase("replay_planned")
        return Conclusion(State.HELD, delivery.owner, step, detail=detail, confidence=Confidence.SURE)
    return None


def _signed_anew(delivery: Delivery, dead_letter: DeadLetterFacts, facts: Facts) -> Conclusion | None:
    """A worker had another key, and none has now: what the relay signs that runs is accepted again.

    Where the relay is gone that signed it, a key may have been changed (former_keys.py).
    """
    is_settled = not any(one.about.kind is Kind.WIRING and one.stops_work for one in facts.causes)
    is_ours = delivery.message_id is not None and delivery.published is not None
    if dead_letter.reason != "bad_signature" or not (is_settled and is_ours and facts.broker.answers):
        return None
    if is_signer_gone(delivery, facts):
        return None
    step = Step(
        "replay_signed_anew",
        dead_letter_id=dead_letter.pk,
        command=f"python manage.py dead_letters replay {dead_letter.pk}",
    )
    detail = phrase("reason", reason=dead_letter.reason)
    return Conclusion(State.DEAD, delivery.owner, step, True, detail, confidence=Confidence.LIKELY)


def work_running(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """Its own row says that a worker has it; the lease says whether that is still true."""
    work = delivery.work
    if work is None or work.state != "running":
        return None
    if work.lease_expires_at and work.lease_expires_at > facts.now:
        detail = phrase("on_worker", worker=work.worker)
        return Conclusion(State.RUNNING, delivery.owner, WAIT, detail=detail, confidence=Confidence.SURE)
    if not any(worker.is_at_work for worker in facts.consumers_of(delivery.queue)):
        step = start_worker(delivery.queue)
        return Conclusion(State.NOBODY_CONSUMES, delivery.owner, step, True, phrase("no_worker"))
    if not any(beat.is_at_work for beat in facts.of_role("beat")):
        return Conclusion(State.RETRYING, facts.platform, start_beat(), True, phrase("not_taken_up"))
    return Conclusion(State.RETRYING, delivery.owner, WAIT, detail=phrase("taken_up"))
