"""Evidence for a verdict: the trail of one delivery, in the order of its way. The same whatever the verdict is."""

from collections.abc import Iterator
from typing import Final

from baton_messaging.diagnosis.triage.delivery_facts import Delivery, Future
from baton_messaging.diagnosis.triage.evidence_of_processes import role_evidence, worker_evidence
from baton_messaging.diagnosis.triage.facts import Facts, QueueSnapshot
from baton_messaging.diagnosis.triage.verdict import Phrase, phrase
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.health.resource import Kind
from baton_messaging.recovery.loss_rule import MARGIN
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE

MAX_ERROR_CHARS: Final = 300  # the desk shows the rest
CLOCK_SLACK_SECONDS: Final = 5.0  # between two machines, before we call a clock wrong


def trail(delivery: Delivery, facts: Facts) -> tuple[Phrase, ...]:
    """Return its phrases."""
    return (
        *_outbox(delivery, facts),
        *_attempts(delivery, facts),
        *_hold(delivery),
        *_dead_letter(delivery),
        *_broker(delivery, facts),
        *worker_evidence(delivery, facts),
        *_work(delivery),
        *_inbox(delivery),
    )


def evidence_of(cause: Diagnosis) -> Phrase:
    """Return what a diagnosis has found, as a phrase; of rows it has found keys, so it says of what."""
    if cause.about.kind is Kind.DATA:
        return phrase("contradiction", what=cause.what, found=cause.found)
    return phrase("cause", found=cause.found)


def _outbox(delivery: Delivery, facts: Facts) -> Iterator[Phrase]:
    row = delivery.published
    if delivery.future:
        yield from _future(delivery.future)
        return
    if row is None:
        yield phrase("not_in_outbox")
        return
    if row.published_at:
        yield phrase("published", at=row.occurred_at, confirmed_at=row.published_at)
    elif row.is_sent:
        yield phrase("sent_to_this_one", at=row.occurred_at)
    else:
        yield phrase("in_outbox", at=row.occurred_at, count=row.ahead_count)
        yield from _relays(facts)
    if row.refusal and not row.is_sent:
        yield phrase("refused", error=row.refusal)
    ahead_seconds = (row.occurred_at - facts.now).total_seconds()
    if ahead_seconds > CLOCK_SLACK_SECONDS:
        yield phrase("producer_clock", seconds=ahead_seconds)


def _future(future: Future) -> Iterator[Phrase]:
    yield phrase("future", at=future.published_at, due_at=future.due_at)
    if future.cancelled_at:
        code = "cancelled_why" if future.why else "cancelled"
        yield phrase(code, at=future.cancelled_at, by=future.cancelled_by, why=future.why)


def _relays(facts: Facts) -> Iterator[Phrase]:
    yield from role_evidence("relay", facts)
    if not facts.broker.answers:
        yield phrase("broker_silent", error=facts.broker.error)
    elif facts.is_broker_full:
        yield phrase("broker_full")


def _attempts(delivery: Delivery, facts: Facts) -> Iterator[Phrase]:
    failed = delivery.failed
    if failed is None:
        return
    if delivery.was_lost_before:
        yield phrase("lost_before", at=failed.failed_at)
    if failed.number:
        yield phrase(
            "failed",
            number=failed.number,
            max=delivery.limits.max_attempts,
            error=_error(failed.error_class, failed.error_text),
            at=failed.failed_at,
        )
    if failed.sent_at:
        yield phrase("sent_again", at=failed.sent_at)
    else:
        yield phrase("due", at=failed.due_at)
    delay_seconds = (failed.due_at - failed.failed_at).total_seconds()
    off_seconds = delay_seconds - delivery.limits.max_delay_seconds
    if delivery.limits.max_delay_seconds and off_seconds > CLOCK_SLACK_SECONDS:
        yield phrase("worker_clock", seconds=delay_seconds)
    if not failed.sent_at and failed.due_at <= facts.now:
        yield from _relays(facts)


def _error(error_class: str, text: str) -> str:
    """Return the sentence that the error said of itself; a class alone tells of no address and no reason."""
    sentence = " ".join(text.split())
    if len(sentence) > MAX_ERROR_CHARS:
        sentence = f"{sentence[:MAX_ERROR_CHARS]}…"
    return f"{error_class} ({sentence})" if sentence else error_class


def _hold(delivery: Delivery) -> Iterator[Phrase]:
    held = delivery.held
    if held is None or delivery.processed:
        return
    if held.is_pause:
        yield phrase("paused", by=held.by, at=held.since, why=held.why)
    else:
        yield phrase("circuit", at=held.since, error=held.error_class, next_at=held.next_probe_at)


def _dead_letter(delivery: Delivery) -> Iterator[Phrase]:
    dead_letter = delivery.dead_letter
    if dead_letter is None:
        return
    yield phrase(
        "died",
        at=dead_letter.died_at,
        reason=dead_letter.reason,
        error=_error(dead_letter.error_class, dead_letter.error_text),
        count=dead_letter.attempt_count,
    )
    if dead_letter.requested_at:
        yield phrase("replay_requested", at=dead_letter.requested_at)


def _broker(delivery: Delivery, facts: Facts) -> Iterator[Phrase]:
    if not delivery.is_with_the_broker:
        return
    seen, queue = delivery.seen, facts.queues.get(delivery.queue)
    if seen and seen.where == "queue" and seen.ahead_count is not None:
        yield phrase("ahead", queue=delivery.queue, count=seen.ahead_count)
    elif seen and seen.where == "taken":
        yield phrase("taken", queue=delivery.queue)
    elif seen and seen.where == "dead letters":
        yield phrase("in_dead_letter_queue")
        yield from role_evidence("collector", facts)
    elif queue and queue.is_complete:
        yield phrase("not_in_queue", queue=delivery.queue, count=queue.waiting_count)
        yield from _recovery(delivery, queue, facts)
    elif queue:
        yield phrase("depth", queue=delivery.queue, count=queue.waiting_count)
        yield from _recovery(delivery, queue, facts)
    elif not facts.broker.answers:
        yield phrase("broker_silent", error=facts.broker.error)
    if seen and seen.delivery_count:
        yield phrase("given_back", count=seen.delivery_count)


def _recovery(delivery: Delivery, queue: QueueSnapshot, facts: Facts) -> Iterator[Phrase]:
    """Tell what the reconciler goes by, where it has something to do, or could have."""
    is_overtaken = queue.served_until and delivery.left_at and delivery.left_at < queue.served_until - MARGIN
    if is_overtaken:
        yield phrase("overtaken", at=queue.served_until)
    given_up = facts.queues.get(DEAD_LETTER_QUEUE)
    if given_up and given_up.total_count:
        yield phrase("uncollected", count=given_up.total_count)
    if queue.is_complete or is_overtaken or not queue.waiting_count:
        yield from role_evidence("beat", facts)


def _work(delivery: Delivery) -> Iterator[Phrase]:
    work = delivery.work
    if work is None:
        return
    yield phrase(f"work_{work.state}", worker=work.worker, at=work.started_at, detail=work.detail)
    if work.state == "running":
        yield phrase("work_lease", at=work.lease_expires_at)


def _inbox(delivery: Delivery) -> Iterator[Phrase]:
    done = delivery.processed
    if done:
        yield phrase("processed", at=done.processed_at, ms=done.duration_ms, worker=done.worker)
