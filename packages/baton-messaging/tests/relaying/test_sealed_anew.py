"""What leaves the database is sealed anew: a message may have waited there for longer than the inbox remembers."""

from datetime import timedelta

import kombu
import pytest
from baton_messaging.conf import baton
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.replay_plan import Fate, dry_run
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.flow_control.parking import park
from baton_messaging.messages.bundle import Bundle
from baton_messaging.models.dead_letter import Reason
from baton_messaging.relaying.retry_round import send_retries
from django.utils import timezone

from tests.dead_letters.factories import SHELL, a_letter, an_envelope
from tests.relaying.outbox_and_queue import bundles

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]

LONG_AGO = timezone.now() - timedelta(days=400)


def readable(consumer: str) -> int:
    (sealed,) = bundles()
    opened = Bundle.open(consumer, sealed, event_name="sample.doomed", max_age_seconds=baton().max_message_age_seconds)
    return len(opened.envelopes)


def test_what_a_pause_has_held_for_a_year_is_taken_when_it_ends(producer: kombu.Producer) -> None:
    park("sample.die", [an_envelope(occurred_at=LONG_AGO)])
    send_retries(producer)
    assert readable("sample.die") == 1


def test_a_person_may_replay_an_old_dead_letter_and_is_told_that_it_may_repeat(producer: kombu.Producer) -> None:
    letter = a_letter(occurred_at=LONG_AGO, first_failed_at=LONG_AGO, reason=Reason.TOO_OLD)
    selection = Selection(ids=(letter.pk,))
    assert dry_run(selection).count(Fate.MAY_REPEAT) == 1
    replay(selection, actor=SHELL, may_repeat=True)
    send_retries(producer)
    assert readable("sample.die") == 1


def test_one_key_is_changed_for_another_while_messages_wait(producer: kombu.Producer, settings: object) -> None:
    """Retries and replays hold no signature: the next key signs them."""
    park("sample.die", [an_envelope()])
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, []  # type: ignore[attr-defined]
    send_retries(producer)
    assert readable("sample.die") == 1
