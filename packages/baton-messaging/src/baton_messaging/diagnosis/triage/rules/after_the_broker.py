"""Rules for a message that left for the broker: it is in a queue, in a worker's hand, or lost."""

from datetime import timedelta
from typing import Final

from baton_messaging.diagnosis.triage.evidence import is_with_the_broker
from baton_messaging.diagnosis.triage.facts import Delivery, Facts
from baton_messaging.diagnosis.triage.rules.lost import lost
from baton_messaging.diagnosis.triage.rules.ruling import RESTART_BROKER, START_COLLECTOR, WAIT, Ruling, start_worker
from baton_messaging.diagnosis.triage.verdict import State, Step, line

# Seconds beyond a hard limit after which a worker is not merely late with killing.
LIMIT_SLACK_SECONDS: Final = 15.0


def running(delivery: Delivery, facts: Facts) -> Ruling | None:
    """A worker that lives says that it has it."""
    hand = delivery.in_flight
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
