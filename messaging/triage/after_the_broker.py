"""Rules for a message that left for the broker: it is in a queue, in a worker's hand, or lost."""

from datetime import timedelta
from typing import Final

from messaging.queues import DEAD_LETTER_QUEUE
from messaging.triage.evidence import is_with_the_broker
from messaging.triage.facts import Delivery, Facts, QueueLook
from messaging.triage.rulings import (
    RESTART_BROKER,
    START_BEAT,
    START_COLLECTOR,
    WAIT,
    Ruling,
    start_worker,
)
from messaging.triage.verdict import State, Step, line

# Seconds after leaving within which "not seen" proves nothing: we looked while it was under way.
UNDER_WAY_SECONDS: Final = 2.0
# Seconds beyond a hard limit after which a worker is not merely late with killing.
LIMIT_SLACK_SECONDS: Final = 15.0


def running(delivery: Delivery, facts: Facts) -> Ruling | None:
    """A worker that lives says that it has it."""
    hand = delivery.in_hand
    if hand is None or not hand.process.is_fresh:
        return None
    if hand.started_at is None:
        return Ruling(State.QUEUED, delivery.owner, WAIT, detail=line("reserved_by", worker=hand.process.name))
    limit = delivery.limits.hard_limit_seconds + LIMIT_SLACK_SECONDS
    if delivery.limits.hard_limit_seconds and facts.now - hand.started_at > timedelta(seconds=limit):
        step = Step("restart_worker", {"worker": hand.process.name})
        return Ruling(State.RUNNING, delivery.owner, step, True, line("beyond_its_limit"))
    return Ruling(State.RUNNING, delivery.owner, WAIT, detail=line("on_worker", worker=hand.process.name))


def broker_away(_delivery: Delivery, facts: Facts) -> Ruling | None:
    """The broker does not answer, so where in it the message is stays open."""
    if facts.broker.answers:
        return None
    question = line("where_in_the_broker", error=facts.broker.error)
    return Ruling(State.UNKNOWN, facts.platform, RESTART_BROKER, True, line("broker_away"), open_questions=(question,))


def in_dead_letter_queue(delivery: Delivery, facts: Facts) -> Ruling | None:
    """The broker gave it up, and nobody has written that down yet."""
    if delivery.seen is None or delivery.seen.where != "dead letters":
        return None
    if any(collector.is_at_work for collector in facts.of_role("collector")):
        return Ruling(State.DEAD, delivery.owner, WAIT, True, line("not_collected"))
    return Ruling(State.DEAD, facts.platform, START_COLLECTOR, True, line("not_collected"))


def lost(delivery: Delivery, facts: Facts) -> Ruling | None:
    """It left, and nobody has it. The reconciler sends it again, if it runs."""
    if delivery.seen or delivery.in_hand or not _is_nowhere(delivery, facts):
        return None
    given_up = facts.queues.get(DEAD_LETTER_QUEUE, QueueLook(0))
    if given_up.waiting_count and given_up.consumer_count is not None:
        return _lost_or_given_up(given_up, facts)
    if not any(beat.is_at_work for beat in facts.of_role("beat")):
        return Ruling(State.LOST, facts.platform, START_BEAT, True, line("no_reconciler"))
    return Ruling(State.LOST, facts.platform, Step("wait_for_reconciler"))


def _lost_or_given_up(given_up: QueueLook, facts: Facts) -> Ruling:
    """It may be among those that RabbitMQ gave up, which it does not show."""
    question = line("is_it_given_up", count=given_up.waiting_count)
    has_collector = any(collector.is_at_work for collector in facts.of_role("collector"))
    step = WAIT if has_collector else START_COLLECTOR
    return Ruling(
        State.UNKNOWN, facts.platform, step, not has_collector, line("lost_or_dead"), open_questions=(question,)
    )


def _is_nowhere(delivery: Delivery, facts: Facts) -> bool:
    """Tell whether neither the broker nor a worker can have it.

    RabbitMQ does not say what its consumers hold. So its queue must be empty, and each consumer that it counts must be
    a worker that has said since the message left what it holds.
    """
    look, left_at = facts.queues.get(delivery.queue), delivery.left_at
    if look is None or left_at is None or facts.now - left_at < timedelta(seconds=UNDER_WAY_SECONDS):
        return False
    if look.consumer_count is None or look.waiting_count:
        return look.is_complete
    workers = [worker for worker in facts.consumers_of(delivery.queue) if worker.is_fresh]
    said_at = [worker.beaten_at for worker in workers]
    have_all_said = all(at - left_at > timedelta(seconds=UNDER_WAY_SECONDS) for at in said_at)
    return len(workers) == look.consumer_count and have_all_said


def nobody_consumes(delivery: Delivery, facts: Facts) -> Ruling | None:
    """No worker of its queue is at work, or the broker knows better than they do: it counts no consumer."""
    workers, look = facts.consumers_of(delivery.queue), facts.queues.get(delivery.queue)
    owner, state = delivery.owner, State.NOBODY_CONSUMES
    at_work = [worker.name for worker in workers if worker.is_at_work]
    if at_work and look and look.consumer_count == 0:
        return Ruling(state, owner, Step("restart_worker", {"worker": at_work[0]}), True, line("not_connected"))
    if at_work:
        return None
    silent = [worker.name for worker in workers if not worker.is_fresh]
    idle = [worker.name for worker in workers if worker.is_fresh]
    if idle:
        return Ruling(state, owner, Step("restart_worker", {"worker": idle[0]}), True, line("takes_nothing"))
    if silent:
        return Ruling(state, owner, Step("restart_worker", {"worker": silent[0]}), True, line("fell_silent"))
    return Ruling(state, owner, start_worker(delivery.queue), True, line("no_worker"))


def queued(delivery: Delivery, facts: Facts) -> Ruling | None:
    """It waits for a worker that is busy."""
    seen, look = delivery.seen, facts.queues.get(delivery.queue)
    if seen and seen.ahead_count is not None:
        detail = line("before_it", count=seen.ahead_count)
    elif seen and seen.where == "taken":
        detail = line("taken_by_a_worker")
    else:
        detail = line("at_most_before_it", count=look.waiting_count if look else 0)
    return Ruling(State.QUEUED, delivery.owner, WAIT, detail=detail)


def in_the_broker(delivery: Delivery, facts: Facts) -> Ruling | None:
    """Ask the rules above, in the order in which they exclude each other."""
    if not is_with_the_broker(delivery):
        return None
    for rule in (broker_away, in_dead_letter_queue, lost, nobody_consumes, queued):
        ruling = rule(delivery, facts)
        if ruling:
            return ruling
    return None
