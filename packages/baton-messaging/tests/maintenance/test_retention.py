from datetime import timedelta
from typing import Any

import pytest
from baton_messaging.conf import baton
from baton_messaging.maintenance.pruning import prune
from baton_messaging.models import Attempt, DeadLetter, ProcessedMessage
from baton_messaging.models.dead_letter import State
from django.core.checks import run_checks
from django.utils import timezone

from tests.dead_letters.factories import a_letter, apply

pytestmark = pytest.mark.django_db

LATER = timezone.now() + timedelta(days=1000)


@pytest.mark.parametrize("state", [State.OPEN, State.REQUESTED])
def test_an_unsettled_letter_is_never_pruned_nor_what_answers_for_it(state: State) -> None:
    letter = a_letter(state=state)
    apply(letter)
    Attempt.objects.create(
        message_id=letter.open_envelope().message_id,
        consumer=letter.consumer,
        attempt=1,
        envelope=letter.envelope,
        due_at=timezone.now(),
        sent_at=timezone.now(),
    )
    prune(LATER)
    assert DeadLetter.objects.exists()
    assert ProcessedMessage.objects.exists()
    assert Attempt.objects.exists()


def test_a_discarded_letter_keeps_its_inbox_row_until_it_goes_itself() -> None:
    letter = a_letter(state=State.DISCARDED, settled_at=timezone.now())
    apply(letter)
    ProcessedMessage.objects.update(processed_at=timezone.now() - timedelta(days=500))
    prune()
    assert DeadLetter.objects.exists()
    assert ProcessedMessage.objects.exists()
    prune(LATER)
    assert not DeadLetter.objects.exists()
    assert not ProcessedMessage.objects.exists()


def test_a_settled_letter_goes_after_its_retention_and_its_copy_stays() -> None:
    original = a_letter(state=State.RESOLVED, settled_at=timezone.now() - timedelta(days=31))
    copy = a_letter(copy_of=original)
    a_letter(state=State.RESOLVED, settled_at=timezone.now() - timedelta(days=29))
    assert prune()["dead_letters"] == 1
    copy.refresh_from_db()
    assert copy.copy_of is None


@pytest.mark.parametrize("name", ["DEAD_LETTER_RETENTION_DAYS", "OUTBOX_RETENTION_DAYS"])
def test_an_inbox_that_forgets_too_early_is_refused_at_check(name: str, settings: Any) -> None:
    settings.BATON = {**settings.BATON, name: baton().inbox_retention_days}
    found = [message for message in run_checks() if message.id == "baton.E006"]
    assert len(found) == 1
    assert name in found[0].msg
