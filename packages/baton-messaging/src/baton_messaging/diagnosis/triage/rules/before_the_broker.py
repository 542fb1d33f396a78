"""Rules for a message that the broker does not have: it waits in the outbox, or for its next attempt.

The owner is the team that must act for it to go on: the platform for relay and broker, the consumer's team for a hold.
"""

from datetime import timedelta
from typing import Final

from baton_messaging.broker.rabbitmq.declarations import remedy_for
from baton_messaging.conf import Team
from baton_messaging.diagnosis.servers.policies import has_declared_length, limiting
from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.rules.causes import step_of
from baton_messaging.diagnosis.triage.rules.conclusion import (
    ASK_AGAIN,
    ENLARGE_BROKER,
    LOOK_AT_RELAY,
    RESTART_BROKER,
    START_RELAY,
    WAIT,
    Conclusion,
)
from baton_messaging.diagnosis.triage.verdict import Phrase, State, Step, phrase
from baton_messaging.health.diagnosis import Confidence
from baton_messaging.messages.position import Position
from baton_messaging.relaying.bundles import QUEUE_FULL

# Seconds that a relay at work may take for a message with none before it. Its lease is 30 s: one that died with the
# message in flight is no reason to call the others stalled.
GRACE_SECONDS: Final = 35.0
# After which a retry that is due should have left, though others were due before it.
OVERDUE: Final = timedelta(minutes=5)
# Of an open circuit, after which the outside does not come back by itself.
OPEN_FOR_LONG: Final = timedelta(minutes=15)


def in_outbox(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """It is in the outbox, unsent: the relay's."""
    row = delivery.published
    if row is None or delivery.position is not Position.UNSENT or delivery.seen:
        return None
    stalled = relay_or_broker(facts)
    if stalled:
        return stalled
    if row.refusal:
        return _refused(delivery, facts, row.refusal)
    if delivery.held:
        return held(delivery, facts)
    since = max(row.occurred_at, row.available_at or row.occurred_at)
    if not row.ahead_count and facts.now - since > timedelta(seconds=GRACE_SECONDS):
        detail = phrase("relay_does_nothing")
        return Conclusion(State.RELAY_STALLED, facts.platform, START_RELAY, True, detail)
    detail = phrase("before_it", count=row.ahead_count)
    return Conclusion(State.WAITING, facts.platform, WAIT, detail=detail, confidence=Confidence.SURE)


def waits_in_database(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """It failed, or is held or replayed, and is due at a time."""
    failed = delivery.failed
    if failed is None or delivery.position is not Position.WAITS_IN_DATABASE or delivery.seen:
        return None
    if delivery.held:
        return held(delivery, facts)
    attempt = phrase("next_attempt", number=failed.number, max=delivery.limits.max_attempts, at=failed.due_at)
    if failed.due_at > facts.now:
        step = Step("wait_until", {"at": failed.due_at})
        return Conclusion(State.RETRYING, delivery.owner, step, detail=attempt, confidence=Confidence.SURE)
    if stalled := relay_or_broker(facts):
        return stalled
    if facts.now - failed.due_at > OVERDUE:
        detail = phrase("relay_does_nothing")
        return Conclusion(State.RELAY_STALLED, facts.platform, START_RELAY, True, detail)
    return Conclusion(State.RETRYING, delivery.owner, WAIT, detail=attempt)


def held(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """A person paused it, or its circuit is open."""
    hold = delivery.held
    if hold is None:
        return None
    if hold.is_pause:
        step = Step("resume", command=f"python manage.py consumers resume {hold.resume}")
        return Conclusion(State.HELD, delivery.owner, step, True, phrase("pause"), confidence=Confidence.SURE)
    step = Step("mend_dependency", {"error": hold.error_class, "at": hold.next_probe_at})
    needs_person = facts.now - hold.since > OPEN_FOR_LONG
    return Conclusion(State.HELD, delivery.owner, step, needs_person, phrase("open_circuit"))


def relay_or_broker(facts: Facts) -> Conclusion | None:
    """Return why nothing leaves. The broker first: without it no relay can work."""

    def stalled(step: Step, detail: Phrase, confidence: Confidence = Confidence.LIKELY) -> Conclusion:
        return Conclusion(State.RELAY_STALLED, facts.platform, step, True, detail, confidence=confidence)

    relays = facts.of_role("relay")
    if facts.broker.is_to_blame:
        return stalled(RESTART_BROKER, phrase("broker_away"), facts.broker.confidence)
    if not facts.broker.answers and not any(relay.is_at_work for relay in relays):
        return stalled(ASK_AGAIN, phrase("broker_not_heard"), Confidence.OPEN)
    if facts.is_broker_full:
        return stalled(ENLARGE_BROKER, phrase("broker_is_full"), Confidence.SURE)
    if not any(relay.is_fresh for relay in relays):
        return stalled(*_without_relay(facts))
    if not any(relay.is_at_work for relay in relays):
        return stalled(LOOK_AT_RELAY, phrase("relay_waits"))
    return None


def _without_relay(facts: Facts) -> tuple[Step, Phrase]:
    """Return step and detail by a relay's last words: one that was stopped is started, one that broke is mended."""
    last = facts.last_of_role("relay")
    if last is None:
        return START_RELAY, phrase("relay_is_dead")
    detail = phrase("relay_ended", at=last.ended_at, by=last.ended_by)
    if "error" not in last.ended_by and "killed" not in last.ended_by:
        return START_RELAY, detail
    return Step("start_relay_again", {"by": last.ended_by}, command=START_RELAY.command), detail


def _refused(delivery: Delivery, facts: Facts, refusal: str) -> Conclusion:
    """One queue does not take it. A full one is its consumers' business, anything else the platform's."""
    if QUEUE_FULL in refusal and not has_declared_length(delivery.queue):
        cause = limiting([delivery.queue])
        detail = phrase("queue_is_full", queue=delivery.queue)
        return Conclusion(
            State.RELAY_STALLED, facts.platform, step_of(cause), True, detail, confidence=cause.confidence, cause=cause
        )
    if QUEUE_FULL in refusal:
        owner: Team = delivery.owner
        step = Step("work_off_queue", {"queue": delivery.queue})
        return Conclusion(State.RELAY_STALLED, owner, step, True, phrase("queue_is_full", queue=delivery.queue))
    remedy = remedy_for(delivery.queue)
    if remedy in refusal:
        step = Step("migrate_queue", command=remedy)
        return Conclusion(
            State.RELAY_STALLED, facts.platform, step, True, phrase("declared_otherwise", queue=delivery.queue)
        )
    step = Step("read_refusal", command="python manage.py backlog_check")
    return Conclusion(State.RELAY_STALLED, facts.platform, step, True, phrase("refused_by_broker"))
