"""Rules for the business row itself: is it there, is its message there, is what it still needs under way?"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from baton_messaging.conf import Team
from baton_messaging.diagnosis.triage.evidence import evidence_of
from baton_messaging.diagnosis.triage.facts import Facts, Subject
from baton_messaging.diagnosis.triage.rules.causes import step_of
from baton_messaging.diagnosis.triage.rules.conclusion import NOTHING
from baton_messaging.diagnosis.triage.verdict import Phrase, State, Step, Verdict, phrase
from baton_messaging.health.diagnosis import Diagnosis

# Seconds after the last effect within which we may have read the outbox too early to see what it published.
JUST_NOW_SECONDS: Final = 5.0


def judge_rows(facts: Facts, verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
    """Return what is wrong with the rows, given the verdicts on their messages."""
    if not facts.subjects and not facts.deliveries and not facts.events:
        yield _verdict(facts, None, State.NOT_PUBLISHED, "never_heard_of", phrase("no_trace", id=facts.key))
    wrong = [verdict for subject in facts.subjects for verdict in _judge_row(facts, subject, verdicts)]
    yield from wrong
    if facts.subjects and not wrong and all(verdict.state == State.DONE for verdict in verdicts):
        of_consumers = {verdict.consumer for verdict in verdicts}
        yield from (_done_but(facts, one) for one in facts.contradictions if of_consumers.isdisjoint(one.consumers))


def _judge_row(facts: Facts, subject: Subject, verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
    row = phrase("row", kind=subject.kind, id=subject.key, at=subject.created_at, status=subject.status)
    if not subject.exists:
        if facts.events:
            gone = phrase("row_gone", kind=subject.kind, id=subject.key)
            yield _verdict(facts, subject, State.ROW_GONE, "row_was_deleted", gone)
    elif subject.first_event not in facts.events:
        yield _without_message(facts, subject, row)
    elif _waits_for_nothing(facts, subject, verdicts):
        missing = phrase("awaited", events=", ".join(subject.awaited))
        owner = facts.owners.get(subject.awaited[0].partition(".")[0])
        yield _verdict(facts, subject, State.NOT_PUBLISHED, "follow_up_missing", row, missing, owner=owner)


def _done_but(facts: Facts, contradiction: Diagnosis) -> Verdict:
    """Every message is processed, and an effect that must be there is not."""
    return Verdict(
        state=State.DONE,
        owner=contradiction.owner or facts.platform,
        step=step_of(contradiction),
        needs_person=True,
        event=facts.subjects[0].first_event,
        detail=phrase("done_but", what=contradiction.what),
        evidence=(evidence_of(contradiction),),
        confidence=contradiction.confidence,
        cause=contradiction,
    )


def _without_message(facts: Facts, subject: Subject, row: Phrase) -> Verdict:
    missing = phrase("no_outbox_row", event=subject.first_event)
    age = facts.now - (subject.created_at or facts.now)
    if age < timedelta(seconds=facts.retention_seconds):
        return _verdict(facts, subject, State.NOT_PUBLISHED, "row_without_message", row, missing)
    if subject.is_settled:
        return _verdict(facts, subject, State.DONE, "forgotten", row)
    return _verdict(facts, subject, State.UNKNOWN, "too_old_to_tell", row, missing)


def _waits_for_nothing(facts: Facts, subject: Subject, verdicts: Sequence[Verdict]) -> bool:
    """Tell whether all is done, and yet the row waits for an event that was not published."""
    if subject.is_settled or not subject.awaited or any(verdict.state != State.DONE for verdict in verdicts):
        return False
    done_at = [delivery.processed.processed_at for delivery in facts.deliveries if delivery.processed]
    is_just_now = not done_at or facts.now - max(done_at) < timedelta(seconds=JUST_NOW_SECONDS)
    return not is_just_now and facts.events.isdisjoint(subject.awaited)


def _verdict(
    facts: Facts, subject: Subject | None, state: State, detail: str, *evidence: Phrase, owner: Team | None = None
) -> Verdict:
    is_done = state == State.DONE
    team = owner or (facts.owners.get(subject.queue) if subject else None) or facts.platform
    return Verdict(
        state=state,
        owner=team,
        step=NOTHING if is_done else Step(f"mend_{detail}"),
        needs_person=not is_done,
        event=subject.first_event if subject else "",
        detail=phrase(detail),
        evidence=evidence,
    )
