"""What speaks for a verdict: the trail of one delivery, in the order of its way. The same whatever the verdict is."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from baton_messaging.diagnosis.triage.facts import Delivery, Facts, Process, QueueLook
from baton_messaging.diagnosis.triage.verdict import Line, line
from baton_messaging.recovery.loss_rule import MARGIN
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE

CLOCK_SLACK_SECONDS: Final = 5.0  # between two machines, before we call a clock wrong


def trail(delivery: Delivery, facts: Facts) -> tuple[Line, ...]:
    """Return the lines."""
    return (
        *_outbox(delivery, facts),
        *_attempts(delivery, facts),
        *_hold(delivery),
        *_letter(delivery),
        *_broker(delivery, facts),
        *_workers(delivery, facts),
        *_work(delivery),
        *_inbox(delivery),
    )


def _outbox(delivery: Delivery, facts: Facts) -> Iterator[Line]:
    row = delivery.published
    if row is None:
        yield line("not_in_outbox")
        return
    if row.published_at:
        yield line("published", at=row.occurred_at, confirmed_at=row.published_at)
    elif row.is_sent:
        yield line("sent_to_this_one", at=row.occurred_at)
    else:
        yield line("in_outbox", at=row.occurred_at, count=row.ahead_count)
        yield from _relays(facts)
    if row.refusal and not row.is_sent:
        yield line("refused", error=row.refusal)
    ahead_seconds = (row.occurred_at - facts.now).total_seconds()
    if ahead_seconds > CLOCK_SLACK_SECONDS:
        yield line("producer_clock", seconds=ahead_seconds)


def _relays(facts: Facts) -> Iterator[Line]:
    yield from _role("relay", facts)
    if not facts.broker.answers:
        yield line("broker_silent", error=facts.broker.error)
    elif facts.is_broker_full:
        yield line("broker_full")


def _attempts(delivery: Delivery, facts: Facts) -> Iterator[Line]:
    failed = delivery.failed
    if failed is None:
        return
    if failed.number:
        yield line(
            "failed",
            number=failed.number,
            max=delivery.limits.max_attempts,
            error=failed.error_class,
            at=failed.failed_at,
        )
    if failed.sent_at:
        yield line("sent_again", at=failed.sent_at)
    else:
        yield line("due", at=failed.due_at)
    delay_seconds = (failed.due_at - failed.failed_at).total_seconds()
    off_seconds = delay_seconds - delivery.limits.max_delay_seconds
    if delivery.limits.max_delay_seconds and off_seconds > CLOCK_SLACK_SECONDS:
        yield line("worker_clock", seconds=delay_seconds)
    if not failed.sent_at and failed.due_at <= facts.now:
        yield from _relays(facts)


def _hold(delivery: Delivery) -> Iterator[Line]:
    held = delivery.held
    if held is None or delivery.processed:
        return
    if held.is_pause:
        yield line("paused", by=held.by, at=held.since, why=held.why)
    else:
        yield line("circuit", at=held.since, error=held.error_class, next_at=held.next_trial_at)


def _letter(delivery: Delivery) -> Iterator[Line]:
    letter = delivery.letter
    if letter is None:
        return
    yield line("died", at=letter.died_at, reason=letter.reason, error=letter.error_class, count=letter.attempt_count)
    if letter.requested_at:
        yield line("replay_requested", at=letter.requested_at)


def is_with_the_broker(delivery: Delivery) -> bool:
    """Tell whether broker and workers have anything to say of it."""
    if delivery.processed or (delivery.letter and delivery.letter.state in ("open", "discarded")):
        return False
    return delivery.seen is not None or (delivery.left_at is not None and not _waits_in_database(delivery))


def _waits_in_database(delivery: Delivery) -> bool:
    return delivery.failed is not None and delivery.failed.sent_at is None


def _broker(delivery: Delivery, facts: Facts) -> Iterator[Line]:
    if not is_with_the_broker(delivery):
        return
    seen, look = delivery.seen, facts.queues.get(delivery.queue)
    if seen and seen.where == "queue" and seen.ahead_count is not None:
        yield line("ahead", queue=delivery.queue, count=seen.ahead_count)
    elif seen and seen.where == "taken":
        yield line("taken", queue=delivery.queue)
    elif seen and seen.where == "dead letters":
        yield line("in_dead_letter_queue")
        yield from _role("collector", facts)
    elif look and look.is_complete:
        yield line("not_in_queue", queue=delivery.queue, count=look.waiting_count)
        yield from _rescue(delivery, look, facts)
    elif look:
        yield line("depth", queue=delivery.queue, count=look.waiting_count)
        yield from _rescue(delivery, look, facts)
    elif not facts.broker.answers:
        yield line("broker_silent", error=facts.broker.error)
    if seen and seen.delivery_count:
        yield line("given_back", count=seen.delivery_count)


def _rescue(delivery: Delivery, look: QueueLook, facts: Facts) -> Iterator[Line]:
    """Tell what the reconciler goes by, where it has something to do, or could have."""
    is_overtaken = look.served_until and delivery.left_at and delivery.left_at < look.served_until - MARGIN
    if is_overtaken:
        yield line("overtaken", at=look.served_until)
    given_up = facts.queues.get(DEAD_LETTER_QUEUE)
    if given_up and given_up.total_count:
        yield line("uncollected", count=given_up.total_count)
    if look.is_complete or is_overtaken or not look.waiting_count:
        yield from _role("beat", facts)


def _role(role: str, facts: Facts) -> Iterator[Line]:
    """Show who is at work; only if nobody is, who was: a process that was replaced is of no interest."""
    processes = facts.of_role(role)
    if not processes:
        yield line(f"no_{role}")
    at_work = [process for process in processes if process.is_at_work]
    for process in at_work or processes:
        yield _sign_of_life(role, process, facts)


def _workers(delivery: Delivery, facts: Facts) -> Iterator[Line]:
    if not is_with_the_broker(delivery):
        return
    workers, look = facts.consumers_of(delivery.queue), facts.queues.get(delivery.queue)
    at_work = [worker for worker in workers if worker.is_at_work]
    if at_work:
        finished = [worker.last_finished_at for worker in at_work if worker.last_finished_at]
        yield line("consumed", count=len(at_work), queue=delivery.queue, running=sum(w.running_count for w in at_work))
        if finished:
            yield line("last_finished", seconds=_seconds(facts, max(finished)))
    elif not workers:
        yield line("nobody", queue=delivery.queue)
    if look and look.consumer_count == 0:
        yield line("no_connection", queue=delivery.queue)
    for worker in [] if at_work else workers:
        yield _sign_of_life("worker", worker, facts)
    if hand := delivery.in_flight:
        code = "running_since" if hand.started_at else "reserved"
        yield line(code, worker=hand.process.name, at=hand.started_at)


def _sign_of_life(role: str, process: Process, facts: Facts) -> Line:
    state = "silent" if not process.is_fresh else "idle" if not process.is_consuming else "alive"
    return line(f"{role}_{state}", name=process.name, seconds=_seconds(facts, process.beaten_at))


def _work(delivery: Delivery) -> Iterator[Line]:
    work = delivery.work
    if work is None:
        return
    yield line(f"work_{work.state}", worker=work.worker, at=work.started_at, detail=work.detail)
    if work.state == "running":
        yield line("work_lease", at=work.lease_expires_at)


def _inbox(delivery: Delivery) -> Iterator[Line]:
    done = delivery.processed
    if done:
        yield line("processed", at=done.processed_at, ms=done.duration_ms, worker=done.worker)


def _seconds(facts: Facts, since: datetime) -> float:
    return max(0.0, (facts.now - since).total_seconds())
