"""Rule for a message whose handler waits for a lock: the session that holds it is at fault, not the consumer."""

from baton_messaging.conf import Team
from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.evidence_of_processes import phrase_of_session
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.rules.conclusion import WAIT, Conclusion
from baton_messaging.diagnosis.triage.verdict import State, Step
from baton_messaging.health.diagnosis import Confidence
from baton_messaging.health.locks import PREPARED_PID, Session


def waits_for_lock(delivery: Delivery, facts: Facts) -> Conclusion | None:
    """It runs, and its statement waits for another session: one of ours goes on by itself, unless it does nothing."""
    wait = delivery.lock
    if wait is None:
        return None
    holder = wait.holder
    detail = phrase_of_session(holder)
    if holder.is_ours and not holder.is_forgotten:
        return Conclusion(State.RUNNING, delivery.owner, WAIT, detail=detail, confidence=Confidence.SURE)
    code = "end_prepared" if holder.pid == PREPARED_PID else "end_session"
    step = Step(code, {"pid": str(holder.pid)}, command=commands.sql(holder.ending))
    return Conclusion(State.RUNNING, _owner(holder, facts), step, True, detail, confidence=Confidence.SURE)


def _owner(holder: Session, facts: Facts) -> Team:
    """Return whose process holds it; the platform's, where it is none of the workers'."""
    for process in facts.of_role("worker"):
        if process.queues and f"baton worker {process.name}" in holder.application:
            return facts.owners.get(process.queues[0], facts.platform)
    return facts.platform
