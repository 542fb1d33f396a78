"""One bad message is one dead letter, however often it comes back; and it stands in no genuine message's way."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.broker.inspect.depth import Depth
from baton_messaging.dead_letters import record_bad_body, record_refused
from baton_messaging.dead_letters.operations.discard import discard
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.errors import BadBundle
from baton_messaging.messages.bundle import Bundle
from baton_messaging.messages.envelope import Envelope, seal
from baton_messaging.models import DeadLetter, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import Reason, State
from baton_messaging.publish import publish
from baton_messaging.recovery.loss_rule import QueueState
from baton_messaging.recovery.losses import losses_of
from django.db import transaction
from django.utils import timezone

from tests.dead_letters.factories import SHELL, an_envelope
from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)

CONSUMER = "sample.take_one"
OTHER_KEY = "the key of a worker that was configured for another project, by mistake"


@pytest.fixture
def sent() -> Envelope:
    """A message that the outbox has sent, one hour ago."""
    with transaction.atomic():
        publish(Sampled(sample_id=uuid4()))
    an_hour_ago = timezone.now() - timedelta(hours=1)
    OutboxMessage.objects.update(published_at=an_hour_ago, sent_to=[CONSUMER])
    return OutboxMessage.objects.get().envelope()


def arrive(envelope: Envelope, settings: Any, *, at: float | None = None) -> None:
    """Let it arrive at a worker that has another key than the relay."""
    sealed = seal(envelope, to=CONSUMER, at=at)
    own, settings.SECRET_KEY = settings.SECRET_KEY, OTHER_KEY
    record_refused(Bundle.open(CONSUMER, [sealed]))
    settings.SECRET_KEY = own


def process(envelope: Envelope, *, worker: str) -> None:
    ProcessedMessage.objects.claim(consumer=CONSUMER, message_ids=[envelope.message_id], worker=worker)


def test_what_another_key_refuses_is_the_dead_letter_of_its_message(sent: Envelope, settings: Any) -> None:
    for at in (1, 2, 3):  # sealed anew each time that it is sent
        arrive(sent, settings, at=at)
    dead_letter = DeadLetter.objects.get()
    assert (dead_letter.message_id, dead_letter.reason) == (sent.message_id, Reason.BAD_SIGNATURE)
    assert dead_letter.open_envelope() == sent


def test_what_another_key_refused_is_not_sent_again(sent: Envelope, settings: Any) -> None:
    empty = QueueState("sample", Depth(0, 0), timezone.now(), None, is_in_flight_known=True)
    assert losses_of(CONSUMER, empty, in_flight=(), limit=10)
    arrive(sent, settings)
    assert not losses_of(CONSUMER, empty, in_flight=(), limit=10)


def test_it_is_settled_by_the_worker_that_processes_it_after_all(sent: Envelope, settings: Any) -> None:
    arrive(sent, settings)
    process(sent, worker="good@vm")
    assert resolve_applied() == 0  # nobody asked for a replay, and pages look only at those
    assert resolve_applied(any_open=True) == 1
    dead_letter = DeadLetter.objects.get()
    assert (dead_letter.state, dead_letter.settled_by) == (State.RESOLVED, "good@vm")


def test_a_copy_that_comes_after_the_message_was_processed_is_no_dead_letter(sent: Envelope, settings: Any) -> None:
    process(sent, worker="good@vm")
    arrive(sent, settings)
    assert not DeadLetter.objects.exists()


def test_a_forged_body_puts_nothing_of_its_own_into_the_dead_letter(sent: Envelope) -> None:
    forged = f'{{"message_id":"{sent.message_id}","name":"sample.sampled","payload":{{"evil":1}}}}:c2lnbmF0dXJl'
    record_refused(Bundle.open(CONSUMER, [forged]))
    assert DeadLetter.objects.get().open_envelope() == sent


def test_an_unknown_message_that_comes_again_is_counted(settings: Any) -> None:
    stranger = an_envelope()
    for at in (1, 2, 3):
        arrive(stranger, settings, at=at)
    dead_letter = DeadLetter.objects.get()
    assert (dead_letter.message_id, dead_letter.seen_count) == (None, 3)
    assert dead_letter.last_seen_at is not None


def test_what_comes_again_after_a_person_has_decided_is_shown_again(settings: Any) -> None:
    stranger = an_envelope()
    arrive(stranger, settings)
    discard(Selection(ids=(DeadLetter.objects.get().pk,)), actor=SHELL, why="no message of ours")
    arrive(stranger, settings)
    assert sorted(DeadLetter.objects.values_list("state", "settled_by")) == [("discarded", "ann"), ("open", "")]


def test_a_body_that_is_no_bundle_is_one_dead_letter(settings: Any) -> None:
    for _ in range(3):
        record_bad_body(CONSUMER, ["junk"] * 20_000, BadBundle("20000 entries"))
    dead_letter = DeadLetter.objects.get()
    assert dead_letter.seen_count == 3
    assert len(dead_letter.raw) < 20_000
