"""Rules for a message that left for the broker: it is in a queue, in flight in a worker, or lost."""

from datetime import timedelta
from typing import Final

from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.rules.conclusion import (
    RESTART_BROKER,
    START_COLLECTOR,
    WAIT,
    Conclusion,
    start_worker,
)
from baton_messaging.diagnosis.triage.rules.lost import lost
from baton_messaging.diagnosis.triage.verdict import State, Step, phrase

# Seconds beyond a hard limit after which a worker is not merely late with killing.
LIMIT_SLACK_SECONDS: Final = 15.0


def running(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """A worker that lives says that it has it."""
    in_flight = delivery.in_flight
    if in_flight is None or not in_flight.process.is_fresh:
        return None
    if in_flight.started_at is None:
        return Conclusion(
            State.QUEUED, delivery.owner, WAIT, detail=phrase("reserved_by", worker=in_flight.process.name)
        )
    limit = delivery.limits.hard_limit_seconds + LIMIT_SLACK_SECONDS
    if delivery.limits.hard_limit_seconds and facts.now - in_flight.started_at > timedelta(seconds=limit):
        step = Step("restart_worker", {"worker": in_flight.process.name})
        return Conclusion(State.RUNNING, delivery.owner, step, True, phrase("beyond_its_limit"))
    return Conclusion(State.RUNNING, delivery.owner, WAIT, detail=phrase("on_worker", worker=in_flight.process.name))


def broker_away(_delivery: Delivery, facts: Facts) -> Conclusion | None:
    """The broker does not answer, so where in it the message is stays open."""
    if facts.broker.answers:
        return None
    question = phrase("where_in_the_broker", error=facts.broker.error)
    return Conclusion(
        State.UNKNOWN, facts.platform, RESTART_BROKER, True, phrase("broker_away"), open_questions=(question,)
    )


def in_dead_letter_queue(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """The broker gave it up, and the collector has not fetched it yet."""
    if delivery.seen is None or delivery.seen.where != "dead letters":
        return None
    if any(collector.is_at_work for collector in facts.of_role("collector")):
        return Conclusion(State.DEAD, delivery.owner, WAIT, True, phrase("not_collected"))
    return Conclusion(State.DEAD, facts.platform, START_COLLECTOR, True, phrase("not_collected"))


def nobody_consumes(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """No worker of its queue is at work, or the broker knows better than they do: it counts no consumer."""
    workers, queue = facts.consumers_of(delivery.queue), facts.queues.get(delivery.queue)
    owner, state = delivery.owner, State.NOBODY_CONSUMES
    at_work = [worker.name for worker in workers if worker.is_at_work]
    if at_work and queue and queue.consumer_count == 0:
        return Conclusion(state, owner, Step("restart_worker", {"worker": at_work[0]}), True, phrase("not_connected"))
    if at_work:
        return None
    silent = [worker.name for worker in workers if not worker.is_fresh]
    idle = [worker.name for worker in workers if worker.is_fresh]
    if idle:
        return Conclusion(state, owner, Step("restart_worker", {"worker": idle[0]}), True, phrase("takes_nothing"))
    if silent:
        return Conclusion(state, owner, Step("restart_worker", {"worker": silent[0]}), True, phrase("fell_silent"))
    return Conclusion(state, owner, start_worker(delivery.queue), True, phrase("no_worker"))


def queued(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """It waits for a worker that is busy."""
    seen, queue = delivery.seen, facts.queues.get(delivery.queue)
    if seen and seen.ahead_count is not None:
        detail = phrase("before_it", count=seen.ahead_count)
    elif seen and seen.where == "taken":
        detail = phrase("taken_by_a_worker")
    else:
        detail = phrase("at_most_before_it", count=queue.waiting_count if queue else 0)
    return Conclusion(State.QUEUED, delivery.owner, WAIT, detail=detail)


def in_the_broker(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """Ask the rules above, in the order in which they exclude each other."""
    if not delivery.is_with_the_broker:
        return None
    for rule in (broker_away, in_dead_letter_queue, lost, nobody_consumes, queued):
        conclusion = rule(delivery, facts)
        if conclusion:
            return conclusion
    return None
