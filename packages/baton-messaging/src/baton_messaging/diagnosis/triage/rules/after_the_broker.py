"""Rules for a message that left for the broker: it is in a queue, in flight in a worker, or lost."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.process_facts import Process
from baton_messaging.diagnosis.triage.rules.conclusion import (
    ASK_AGAIN,
    RESTART_BROKER,
    START_COLLECTOR,
    WAIT,
    Conclusion,
    start_worker,
    start_worker_after,
)
from baton_messaging.diagnosis.triage.rules.lost import elsewhere, lost
from baton_messaging.diagnosis.triage.verdict import State, Step, phrase
from baton_messaging.health.diagnosis import Confidence

# Seconds in which a worker that has just started may not have its broker yet, nor the broker its consumers.
STARTING_SECONDS: Final = 30.0
# Seconds beyond a hard limit after which a worker is not merely late with killing.
LIMIT_SLACK_SECONDS: Final = 15.0
# Seconds without a message begun or finished after which children that could take one are not merely slow.
IDLE_CHILDREN_SECONDS: Final = 20.0


def running(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """A worker that lives says that it has it."""
    in_flight = delivery.in_flight
    if in_flight is None or not in_flight.process.is_fresh:
        return None
    if delivery.seen and delivery.seen.where == "dead letters":  # the broker was asked now, the heartbeat is older
        return None
    if in_flight.started_at is None:
        return _not_begun(delivery, in_flight.process, facts)
    limit = delivery.limits.hard_limit_seconds + LIMIT_SLACK_SECONDS
    at_work_seconds = in_flight.process.seconds_at_work(in_flight.started_at, facts.now)
    if delivery.limits.hard_limit_seconds and at_work_seconds > limit:
        step = Step("restart_worker", {"worker": in_flight.process.name})
        return Conclusion(State.RUNNING, delivery.owner, step, True, phrase("beyond_its_limit"))
    detail = phrase("on_worker", worker=in_flight.process.name)
    return Conclusion(State.RUNNING, delivery.owner, WAIT, detail=detail, confidence=Confidence.SURE)


def _not_begun(delivery: Delivery, worker: Process, facts: Facts) -> Conclusion:
    """Its main process has taken it. With children that run nothing and have finished nothing for long, they hang."""
    long_ago = facts.now - timedelta(seconds=IDLE_CHILDREN_SECONDS)
    has_waited = delivery.left_at is not None and delivery.left_at < long_ago
    finishes_nothing = worker.last_finished_at is None or worker.last_finished_at < long_ago
    detail = phrase("reserved_by", worker=worker.name)
    if worker.running_count or not (has_waited and finishes_nothing):
        return Conclusion(State.QUEUED, delivery.owner, WAIT, detail=detail)
    step = Step("restart_worker", {"worker": worker.name})
    detail = phrase("children_hang", worker=worker.name)
    return Conclusion(State.QUEUED, delivery.owner, step, True, detail)


def broker_away(_delivery: Delivery, facts: Facts) -> Conclusion | None:
    """The broker does not answer, so where in it the message is stays open."""
    if facts.broker.answers:
        return None
    question = phrase("where_in_the_broker", error=facts.broker.error)
    if not facts.broker.is_to_blame:
        return Conclusion(
            State.UNKNOWN, facts.platform, ASK_AGAIN, True, phrase("broker_not_heard"), open_questions=(question,)
        )
    return Conclusion(
        State.UNKNOWN, facts.platform, RESTART_BROKER, True, phrase("broker_away"), open_questions=(question,)
    )


def in_dead_letter_queue(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """The broker gave it up, and the collector has not fetched it yet."""
    if delivery.seen is None or delivery.seen.where != "dead letters":
        return None
    if any(collector.is_at_work for collector in facts.of_role("collector")):
        detail = phrase("not_collected")
        return Conclusion(State.DEAD, delivery.owner, WAIT, True, detail, confidence=Confidence.SURE)
    return Conclusion(State.DEAD, facts.platform, START_COLLECTOR, True, phrase("not_collected"))


def nobody_consumes(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """No worker of its queue is at work, or the broker knows better than they do: it counts no consumer.

    Sure only where the broker counts: a worker that writes no heartbeat here may consume it all the same.
    """
    conclusion, queue = _nobody_consumes(delivery, facts), facts.queues.get(delivery.queue)
    is_counted = queue is not None and queue.consumer_count == 0
    return replace(conclusion, confidence=Confidence.SURE) if conclusion and is_counted else conclusion


def _nobody_consumes(delivery: Delivery, facts: Facts) -> Conclusion | None:
    workers, queue = facts.consumers_of(delivery.queue), facts.queues.get(delivery.queue)
    owner, state = delivery.owner, State.NOBODY_CONSUMES
    at_work = [worker.name for worker in workers if worker.is_at_work]
    is_connected = queue is None or queue.consumer_count != 0
    if at_work and is_connected:
        return None
    starting = next((worker.name for worker in workers if _is_starting(worker, facts)), None)
    if starting:
        return Conclusion(State.QUEUED, owner, WAIT, detail=phrase("worker_starts", name=starting))
    if at_work:
        return Conclusion(state, owner, Step("restart_worker", {"worker": at_work[0]}), True, phrase("not_connected"))
    idle = [worker.name for worker in workers if worker.is_fresh]
    if idle:
        return Conclusion(state, owner, Step("restart_worker", {"worker": idle[0]}), True, phrase("takes_nothing"))
    return _after_the_last_worker(delivery, workers, facts)


def _is_starting(worker: Process, facts: Facts) -> bool:
    age = facts.now - (worker.started_at or worker.beaten_at)
    return worker.is_fresh and worker.started_at is not None and age < timedelta(seconds=STARTING_SECONDS)


def _after_the_last_worker(delivery: Delivery, workers: list[Process], facts: Facts) -> Conclusion:
    """Tell of the last one that lived: it has said how it ended, or it fell silent."""
    owner, state = delivery.owner, State.NOBODY_CONSUMES
    in_flight = delivery.in_flight
    if in_flight and in_flight.process in workers:
        step = Step("restart_worker", {"worker": in_flight.process.name})
        return Conclusion(state, owner, step, True, phrase("fell_silent"))
    ended = [worker for worker in facts.ended if delivery.queue in worker.queues]
    last = max((*workers, *ended), key=lambda worker: worker.seen_at, default=None)
    if last is None:
        return Conclusion(state, owner, start_worker(delivery.queue), True, phrase("no_worker"))
    if last.ended_at:
        detail = phrase("last_worker_ended", name=last.name, at=last.ended_at, by=last.ended_by)
        return Conclusion(state, owner, start_worker(delivery.queue), True, detail)
    silent_seconds = (facts.now - last.beaten_at).total_seconds()
    step = start_worker_after(delivery.queue, last.name)
    return Conclusion(state, owner, step, True, phrase("last_worker", name=last.name, seconds=silent_seconds))


def queued(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """It waits for a worker that is busy."""
    seen, queue = delivery.seen, facts.queues.get(delivery.queue)
    confidence = Confidence.SURE if seen else Confidence.LIKELY
    if seen and seen.ahead_count is not None:
        detail = phrase("before_it", count=seen.ahead_count)
    elif seen and seen.where == "taken":
        detail = phrase("taken_by_a_worker")
    else:
        detail = phrase("at_most_before_it", count=queue.waiting_count if queue else 0)
    return Conclusion(State.QUEUED, delivery.owner, WAIT, detail=detail, confidence=confidence)


def in_the_broker(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """Ask the rules above, in the order in which they exclude each other."""
    if not delivery.is_with_the_broker:
        return None
    for rule in (broker_away, in_dead_letter_queue, elsewhere, lost, nobody_consumes, queued):
        conclusion = rule(delivery, facts)
        if conclusion:
            return conclusion
    return None
