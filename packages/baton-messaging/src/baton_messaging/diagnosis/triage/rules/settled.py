"""Rules for a message that has come to an end: done, or dead; and for long work that keeps its own row."""

from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.rules.causes import step_of
from baton_messaging.diagnosis.triage.rules.conclusion import NOTHING, WAIT, Conclusion, start_beat, start_worker
from baton_messaging.diagnosis.triage.verdict import State, Step, phrase
from baton_messaging.health.diagnosis import Confidence
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
    cause = next((one for one in facts.contradictions if delivery.consumer in one.consumers), None)
    if cause is None:
        is_checked = delivery.consumer in facts.checked_consumers
        confidence = Confidence.SURE if is_checked else Confidence.LIKELY
        return Conclusion(State.DONE, delivery.owner, NOTHING, confidence=confidence)
    owner, detail = cause.owner or facts.platform, phrase("done_but", what=cause.what)
    return Conclusion(State.DONE, owner, step_of(cause), True, detail, confidence=cause.confidence, cause=cause)


def dead(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """A person must decide, or has decided.

    Sure only where the consumer itself has said that the message is to blame, and asked nobody else: any other error
    may be of something else, and a server that refuses one message may refuse all.
    """
    dead_letter = delivery.dead_letter
    if dead_letter is None:
        return None
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
