"""Rules for a message that left for the broker and is nowhere. What becomes of a lost one is the reconciler's rule.

Triage may know earlier than the reconciler that a message is lost: on Redis it searches the broker for this one, and on
RabbitMQ it need not wait until the message is old enough. Then the next step says what the reconciler waits for.

"Lost, wait" is said last: a consumer that is not known here, and a message that was sent again and is gone again, mean
that something takes what is sent. Sending it once more would mend nothing, and hide that.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from baton_messaging.broker.inspect.depth import Depth
from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts, QueueSnapshot
from baton_messaging.diagnosis.triage.rules.conclusion import (
    DOCTOR,
    ENLARGE_BROKER,
    RECONCILE,
    START_COLLECTOR,
    WAIT,
    Conclusion,
    start_beat,
    start_worker,
)
from baton_messaging.diagnosis.triage.verdict import State, Step, phrase
from baton_messaging.health.diagnosis import Confidence
from baton_messaging.recovery.loss_rule import QueueState, grace, proof_of_loss, wait_for_proof
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE

# Seconds after leaving within which "not seen" proves nothing: we looked while it was under way.
UNDER_WAY_SECONDS: Final = 2.0
# After the grace: the reconciler comes by each minute, so what is lost that long is lost for a reason of its own.
OVERDUE: Final = timedelta(minutes=30)


def elsewhere(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """Something that is not known here takes what is sent to the queue."""
    state = _queue_state(delivery, facts)
    if state is None or delivery.seen or state.depth.waiting or _is_held_here(delivery):
        return None
    detail = None
    if _has_stranger(delivery, facts):
        detail = phrase("stranger", queue=delivery.queue)
    elif delivery.was_lost_before and _is_nowhere(delivery, facts, state):
        detail = phrase("lost_again")
    if detail is None:
        return None
    step = Step("find_stranger", {"queue": delivery.queue}, command=DOCTOR)
    question = phrase("who_takes_it")
    return Conclusion(State.ELSEWHERE, facts.platform, step, True, detail, (question,), Confidence.LIKELY)


def _is_held_here(delivery: Delivery) -> bool:
    return delivery.in_flight is not None


def _has_stranger(delivery: Delivery, facts: Facts) -> bool:
    """Tell whether the broker counts more consumers than have ever sent a heartbeat, of a message that should be done.

    A worker beats from its start, and one that fell silent counts, too: it may still be connected.
    """
    queue, left_at = facts.queues[delivery.queue], delivery.left_at
    if left_at is None or (queue.consumer_count or 0) <= len(facts.consumers_of(delivery.queue)):
        return False
    return facts.now - left_at >= grace() or _have_known_said(delivery, facts)


def lost(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """It left, and neither broker nor worker has it: the reconciler sends it again as soon as its rule allows."""
    state = _queue_state(delivery, facts)
    if state is None or delivery.seen or not _is_nowhere(delivery, facts, state):
        return None
    if state.uncollected_count and not facts.queues[delivery.queue].is_complete:
        return _lost_or_given_up(state.uncollected_count, facts)
    conclusion = _without_reconciler(facts) or _until_sent_again(delivery, facts, state)
    return replace(conclusion, confidence=Confidence.LIKELY) if conclusion else None


def _queue_state(delivery: Delivery, facts: Facts) -> QueueState | None:
    """Return what the reconciler would be told of the queue; None while the message may still be on its way there."""
    queue, left_at = facts.queues.get(delivery.queue), delivery.left_at
    if queue is None or left_at is None or facts.now - left_at < timedelta(seconds=UNDER_WAY_SECONDS):
        return None
    return QueueState(
        queue=delivery.queue,
        depth=Depth(queue.waiting_count, queue.taken_count),
        looked_at=facts.now,
        served_until=queue.served_until,
        is_in_flight_known=_have_all_said(delivery, facts, queue),
        uncollected_count=facts.queues.get(DEAD_LETTER_QUEUE, QueueSnapshot(0)).total_count,
    )


def _have_all_said(delivery: Delivery, facts: Facts, queue: QueueSnapshot) -> bool:
    """Tell whether each consumer that RabbitMQ counts is a worker that has said since the message left what it holds.

    A worker that fell silent may hold it: then the worker is at fault, and its queue's team is the owner.
    """
    workers = [worker for worker in facts.consumers_of(delivery.queue) if worker.is_fresh]
    return _have_known_said(delivery, facts) and (queue.consumer_count or 0) <= len(workers)


def _have_known_said(delivery: Delivery, facts: Facts) -> bool:
    """Tell whether each worker that is known here has said since the message left what it holds."""
    left_at, under_way = delivery.left_at, timedelta(seconds=UNDER_WAY_SECONDS)
    workers = [worker for worker in facts.consumers_of(delivery.queue) if worker.is_fresh]
    return left_at is not None and all(worker.beaten_at - left_at > under_way for worker in workers)


def _is_nowhere(delivery: Delivery, facts: Facts, state: QueueState) -> bool:
    """Tell whether neither the broker nor a worker can have it, the dead-letter queue of RabbitMQ apart."""
    if facts.queues[delivery.queue].is_complete or state.is_empty:
        return True
    collected = replace(state, uncollected_count=0)
    return delivery.left_at is not None and proof_of_loss(delivery.left_at, collected) is not None


def _lost_or_given_up(count: int, facts: Facts) -> Conclusion:
    """It may be among those that RabbitMQ gave up, which it does not show."""
    question, detail = phrase("is_it_given_up", count=count), phrase("lost_or_dead")
    step = WAIT if _has_collector(facts) else START_COLLECTOR
    return Conclusion(State.UNKNOWN, facts.platform, step, step is not WAIT, detail, open_questions=(question,))


def _without_reconciler(facts: Facts) -> Conclusion | None:
    """It runs as a task: beat sends it, a worker of the platform's queue takes it. And the broker must have room."""
    if facts.is_broker_full:
        return Conclusion(State.LOST, facts.platform, ENLARGE_BROKER, True, phrase("broker_is_full"))
    if not any(beat.is_at_work for beat in facts.of_role("beat")):
        return Conclusion(State.LOST, facts.platform, start_beat(), True, phrase("no_reconciler"))
    if not any(worker.is_at_work for worker in facts.consumers_of(facts.platform_queue)):
        return Conclusion(
            State.LOST, facts.platform, start_worker(facts.platform_queue), True, phrase("no_worker_for_it")
        )
    return None


def _until_sent_again(delivery: Delivery, facts: Facts, state: QueueState) -> Conclusion | None:
    """Say what the reconciler waits for. For a queue without a worker it waits in vain: that is the fault then."""
    left_at = delivery.left_at or facts.now
    wait = wait_for_proof(left_at, state)
    if wait == "collector":
        step = Step("wait_for_collector") if _has_collector(facts) else START_COLLECTOR
        needs_person = step is START_COLLECTOR or facts.now - left_at > grace() + OVERDUE
        return Conclusion(State.LOST, facts.platform, step, needs_person, phrase("collector_first"))
    if wait == "queue" and not any(worker.is_at_work for worker in facts.consumers_of(delivery.queue)):
        return None
    if wait == "queue":
        return Conclusion(State.LOST, facts.platform, Step("wait_for_queue", {"queue": delivery.queue}))
    if wait == "grace":
        return Conclusion(State.LOST, facts.platform, Step("wait_for_grace", {"at": left_at + grace()}))
    if facts.now - left_at > grace() + OVERDUE:
        step = Step("run_reconciler", command=RECONCILE)
        return Conclusion(State.LOST, facts.platform, step, True, phrase("not_sent_again"))
    return Conclusion(State.LOST, facts.platform, Step("wait_for_reconciler"))


def _has_collector(facts: Facts) -> bool:
    return any(collector.is_at_work for collector in facts.of_role("collector"))
