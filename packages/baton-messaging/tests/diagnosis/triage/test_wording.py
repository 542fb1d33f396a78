"""Every case of judging can be said, in both languages."""

import pytest
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.report import report
from baton_messaging.models.dead_letter import Reason
from django.utils import translation

from tests.diagnosis.triage.test_judge import CASES
from tests.diagnosis.triage.world import AGAIN_IN_QUEUE, delivery, facts


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("world", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_every_verdict_has_words(world: Facts, language: str) -> None:
    with translation.override(language):
        answers = report("42", world).verdicts
    for answer in answers:
        assert answer.state_text
        assert answer.next_step.text
        assert not [text for text in (*answer.evidence, *answer.open_questions) if "%(" in text]


def test_the_evidence_reads_as_an_operator_would_tell_it() -> None:
    (answer,) = report("42", facts(delivery(**AGAIN_IN_QUEUE))).verdicts
    assert answer.state_text == "queued (214 before it)"
    assert answer.evidence == (
        "published 09:29:00, confirmed by the broker 09:29:01",
        "failed, attempt 2 of 8 at 09:29:40: MailUnavailable",
        "sent again 09:29:50",
        "queue mail has 214 before it",
        "given back to its queue 2 times: a worker was killed, or hit the hard limit",
        "workers that consume queue mail: 1, with 0 tasks in flight",
        "the last of them finished one 3 s ago",
    )
    assert (answer.owner, answer.next_step.text) == ("Care <care@example.com>", "Wait: it goes on by itself.")


def test_reasons_are_those_of_the_dead_letters() -> None:
    answers = [report("42", case[1]).verdicts[0].state_text for case in CASES if case[0] == "dead"]
    assert answers == [f"dead ({Reason.RETRIES_SPENT.label})"]
