"""Evidence of processes: which live and work, what has the message in flight, and whose lock it waits for."""

from collections.abc import Iterator
from datetime import datetime

from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.process_facts import InFlight, Process
from baton_messaging.diagnosis.triage.verdict import Phrase, phrase
from baton_messaging.health.locks import LockWait, Session


def role_evidence(role: str, facts: Facts) -> Iterator[Phrase]:
    """Show the processes at work; only without any, those that were: one that was replaced is of no interest."""
    processes = facts.of_role(role)
    last = facts.last_of_role(role)
    if last:
        yield phrase("role_ended", role=role, name=last.name, at=last.ended_at, by=last.ended_by)
    elif not processes:
        yield phrase(f"no_{role}")
    at_work = [process for process in processes if process.is_at_work]
    for process in at_work or processes:
        yield _sign_of_life(role, process, facts)


def worker_evidence(delivery: Delivery, facts: Facts) -> Iterator[Phrase]:
    """Show the workers of its queue, and the one that has it in flight."""
    if not delivery.is_with_the_broker:
        return
    workers, queue = facts.consumers_of(delivery.queue), facts.queues.get(delivery.queue)
    at_work = [worker for worker in workers if worker.is_at_work]
    if at_work:
        finished = [worker.last_finished_at for worker in at_work if worker.last_finished_at]
        yield phrase(
            "consumed", count=len(at_work), queue=delivery.queue, running=sum(w.running_count for w in at_work)
        )
        if finished:
            yield phrase("last_finished", seconds=_seconds(facts, max(finished)))
    elif not workers:
        yield phrase("nobody", queue=delivery.queue)
    if queue and queue.consumer_count == 0:
        yield phrase("no_connection", queue=delivery.queue)
    if queue and (queue.consumer_count or 0) > len(workers):
        yield phrase("strangers", queue=delivery.queue, count=queue.consumer_count, known=len(workers))
    for worker in [] if at_work else workers:
        yield _sign_of_life("worker", worker, facts)
    if in_flight := delivery.in_flight:
        code = "running_since" if in_flight.started_at else "reserved"
        yield phrase(code, worker=in_flight.process.name, at=in_flight.started_at)
        yield from _standstill(in_flight)
    if delivery.lock:
        yield from _lock(delivery.lock)


def _standstill(in_flight: InFlight) -> Iterator[Phrase]:
    process, since = in_flight.process, in_flight.started_at
    if since and process.stood_still_at and process.stood_still_at > since:
        yield phrase("stood_still", worker=process.name, seconds=process.stood_still_seconds, at=process.stood_still_at)


def _lock(wait: LockWait) -> Iterator[Phrase]:
    yield phrase("waits_for_lock", seconds=wait.waits_seconds, pid=str(wait.holder.pid))
    yield from holder_evidence(wait.holder)


def holder_evidence(holder: Session) -> Iterator[Phrase]:
    """Show who holds a lock, and its last statement."""
    yield Phrase("lock_holder", phrase_of_session(holder).values)
    if holder.statement:
        yield phrase("lock_statement", pid=str(holder.pid), statement=holder.statement)


def phrase_of_session(holder: Session) -> Phrase:
    """Return who holds a lock, as a detail."""
    return phrase(
        "waits_for_session",
        pid=holder.gid or str(holder.pid),
        application=holder.application or "?",
        user=holder.user or "?",
        state=holder.state or "?",
        at=holder.since,
    )


def _sign_of_life(role: str, process: Process, facts: Facts) -> Phrase:
    state = "silent" if not process.is_fresh else "idle" if not process.is_consuming else "alive"
    return phrase(f"{role}_{state}", name=process.name, seconds=_seconds(facts, process.beaten_at))


def _seconds(facts: Facts, since: datetime) -> float:
    return max(0.0, (facts.now - since).total_seconds())
