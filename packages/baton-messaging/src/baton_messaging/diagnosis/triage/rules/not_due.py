"""Rule for a message that was published for a time to come: the platform keeps it until it is due."""

from datetime import timedelta

from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.rules.before_the_broker import GRACE_SECONDS, relay_or_broker
from baton_messaging.diagnosis.triage.rules.conclusion import NOTHING, START_RELAY, WAIT, Conclusion
from baton_messaging.diagnosis.triage.verdict import State, Step, phrase
from baton_messaging.health.diagnosis import Confidence


def not_due(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """It waits for its time, or it was cancelled before that came."""
    future = delivery.future
    if future is None:
        return None
    if future.cancelled_at:
        detail = phrase("cancelled_by", by=future.cancelled_by, at=future.cancelled_at)
        return Conclusion(State.CANCELLED, delivery.owner, NOTHING, detail=detail, confidence=Confidence.SURE)
    due = phrase("due_at", at=future.due_at)
    if future.due_at > facts.now:
        step = Step("wait_until_due", {"at": future.due_at})
        return Conclusion(State.NOT_DUE, facts.platform, step, detail=due, confidence=Confidence.SURE)
    if stalled := relay_or_broker(facts):
        return stalled
    if facts.now - future.due_at > timedelta(seconds=GRACE_SECONDS):
        detail = phrase("relay_does_nothing")
        return Conclusion(State.RELAY_STALLED, facts.platform, START_RELAY, True, detail)
    return Conclusion(State.WAITING, facts.platform, WAIT, detail=due)
