"""The judge makes verdicts of facts: a pure function, so that every case is a test of one line.

The first rule that has something to say decides. Their order is the message's way backwards as far as it is known to
have come (an inbox row ends all questions), then forwards to the first obstacle: of two faults the verdict names the
one that the message meets first, and the evidence both.
"""

from collections.abc import Iterator
from typing import Final

from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.rendering import waiting_names
from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.evidence import evidence_of, trail
from baton_messaging.diagnosis.triage.evidence_of_processes import holder_evidence
from baton_messaging.diagnosis.triage.facts import Facts, Reach
from baton_messaging.diagnosis.triage.rules.after_the_broker import in_the_broker, running
from baton_messaging.diagnosis.triage.rules.before_the_broker import held, in_outbox, waits_in_database
from baton_messaging.diagnosis.triage.rules.business_rows import judge_rows
from baton_messaging.diagnosis.triage.rules.causes import explained, step_of
from baton_messaging.diagnosis.triage.rules.conclusion import ASK_AGAIN, Conclusion, Rule
from baton_messaging.diagnosis.triage.rules.locks import waits_for_lock
from baton_messaging.diagnosis.triage.rules.not_due import not_due
from baton_messaging.diagnosis.triage.rules.settled import dead, processed, work_failed, work_running
from baton_messaging.diagnosis.triage.verdict import Phrase, State, Step, Verdict, phrase
from baton_messaging.health.diagnosis import Confidence, Diagnosis
from baton_messaging.health.resource import Kind

_RULES: Final[tuple[Rule, ...]] = (
    not_due,
    work_failed,
    processed,
    dead,
    work_running,
    in_outbox,
    waits_in_database,
    waits_for_lock,
    running,
    held,
    in_the_broker,
)
_DATABASE_QUESTIONS: Final = ("is_the_row_there", "is_it_in_the_outbox", "did_it_fail", "is_it_dead", "is_it_done")


def judge(facts: Facts) -> list[Verdict]:
    """Return one verdict per message and consumer, oldest message first; what is wrong with the row itself before."""
    if not facts.database.answers:
        return [_database_away(facts)]
    verdicts = [_judge_delivery(delivery, facts) for delivery in facts.deliveries]
    return [*judge_rows(facts, verdicts), *verdicts]


def _judge_delivery(delivery: Delivery, facts: Facts) -> Verdict:
    found = next((found for rule in _RULES if (found := rule(delivery, facts))), None)
    conclusion = explained(found or _no_trace(delivery, facts), delivery, facts)
    return Verdict(
        state=conclusion.state,
        owner=conclusion.owner,
        step=conclusion.step,
        needs_person=conclusion.needs_person,
        consumer=delivery.consumer,
        event=delivery.event,
        message_id=delivery.message_id,
        detail=conclusion.detail,
        evidence=(*(_of_cause(conclusion.cause) if conclusion.cause else ()), *trail(delivery, facts)),
        open_questions=conclusion.open_questions,
        confidence=Confidence.OPEN if conclusion.open_questions else conclusion.confidence,
        cause=conclusion.cause,
    )


def _of_cause(cause: Diagnosis) -> Iterator[Phrase]:
    yield evidence_of(cause)
    if cause.victims:
        yield phrase("victims", count=len(cause.victims), names=waiting_names(cause))


def _no_trace(delivery: Delivery, facts: Facts) -> Conclusion:
    """Return the conclusion on a message that left the outbox by retention: what became of it is not kept."""
    question = phrase("what_became_of_it")
    owner = delivery.owner if facts.deliveries else facts.platform
    return Conclusion(State.UNKNOWN, owner, Step("mend_too_old_to_tell"), True, open_questions=(question,))


def _database_away(facts: Facts) -> Verdict:
    """Return the verdict without the database, with what the broker says as evidence: the one that doctor has, too."""
    depths = tuple(phrase("depth_of", queue=name, count=queue.waiting_count) for name, queue in facts.queues.items())
    broker = depths if facts.broker.answers else (phrase("broker_silent", error=facts.broker.error),)
    cause = next((one for one in facts.causes if one.about.kind is Kind.DATABASE and one.stops_work), None)
    detail, step, database = _why_away(facts.database, cause)
    return Verdict(
        state=State.UNKNOWN,
        owner=(cause and cause.owner) or facts.platform,
        step=step,
        needs_person=True,
        detail=detail,
        evidence=(*database, *broker),
        open_questions=tuple(phrase(code) for code in _DATABASE_QUESTIONS),
        confidence=Confidence.OPEN,
        cause=cause,
    )


def _why_away(database: Reach, cause: Diagnosis | None) -> tuple[Phrase, Step, tuple[Phrase, ...]]:
    """Return detail, step and evidence."""
    if database.locked:
        table, holder = database.locked
        step = Step("end_table_lock", {"pid": str(holder.pid)}, command=commands.sql(holder.ending))
        return phrase("table_locked", table=table), step, tuple(holder_evidence(holder))
    if cause:
        return phrase("cause", found=cause.found), step_of(cause), tuple(_of_cause(cause))
    return phrase("database_not_heard"), ASK_AGAIN, (phrase("database_silent", error=database.error),)
