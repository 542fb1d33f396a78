"""From death to effect with real processes: repair, replay, once."""

import os
from uuid import UUID, uuid4

import pytest
from baton_dev.testing.processes import Process, wait_until
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.dead_letters.operations.replay import advance, replay
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.diagnosis.progress import progress_of
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, ProcessedMessage, Replay
from baton_messaging.models.dead_letter import Reason, State
from baton_messaging.publish import publish
from celery import current_app
from django.db import transaction

from tests.dead_letters.factories import SHELL, letters
from tests.parcels.models import Parcel
from tests.sample.events import Doomed
from tests.sample.models import Effect
from tests.sample.tasks import REPAIRED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("relay", "worker", "collector")]

# The figure is 10,000: REPLAY_LETTERS=10000 takes a minute or more.
LETTER_COUNT = int(os.environ.get("REPLAY_LETTERS", "1000"))
SETTLE_SECONDS = 60 + LETTER_COUNT / 20


def tend() -> bool:
    """Do what beat's task does each minute; tell whether nothing is on its way any more."""
    resolve_applied()
    advance()
    return not DeadLetter.objects.filter(state=State.REQUESTED).exists() and not Replay.objects.watching().exists()


def place(*behaviours: str) -> list[UUID]:
    keys = [uuid4() for _ in behaviours]
    with transaction.atomic():
        publish(*(Doomed(sample_id=key, behaviour=what) for key, what in zip(keys, behaviours, strict=True)))
    return keys


def wait_for_letters(count: int) -> None:
    wait_until(lambda: DeadLetter.objects.open().count() == count, seconds=60, what=f"{count} open dead letters")


def is_drained() -> bool:
    with current_app.connection_for_read() as broker:
        return depths(broker, ["sample"])["sample"].total == 0


def effects() -> list[UUID]:
    return sorted(Effect.objects.values_list("sample_id", flat=True))


def test_a_group_is_replayed_after_the_repair_and_the_app_is_told() -> None:
    parcel = Parcel.objects.create()
    with transaction.atomic():
        publish(Doomed(sample_id=parcel.pk, behaviour="permanent"))
    keys = [*place(*["permanent"] * 10), parcel.pk]
    wait_for_letters(11)
    parcel.refresh_from_db()
    assert parcel.needs_attention
    letter = DeadLetter.objects.order_by("pk")[0]

    REPAIRED.touch()
    replay(Selection(group=letter.fingerprint), actor=SHELL, canary_count=2, rate_per_second=20)
    wait_until(tend, seconds=60, what="the end of the replay")

    assert effects() == sorted(keys)
    assert set(DeadLetter.objects.values_list("state", flat=True)) == {State.RESOLVED}
    assert [step.state for step in progress_of(str(parcel.pk))] == ["done"]
    parcel.refresh_from_db()
    assert not parcel.needs_attention


def test_a_canary_that_dies_again_saves_the_rest() -> None:
    place(*["permanent"] * 5)
    wait_for_letters(5)
    fingerprint = DeadLetter.objects.order_by("pk")[0].fingerprint
    order = replay(Selection(group=fingerprint), actor=SHELL, canary_count=1)
    wait_until(tend, seconds=60, what="the end of the replay")
    order.refresh_from_db()
    assert order.stopped_at is not None
    wait_for_letters(5)
    assert DeadLetter.objects.filter(replay_count=1).count() == 1
    assert effects() == []


def test_of_a_bundle_that_died_whole_only_the_culprit_dies(worker: Process) -> None:
    keys = place(*["ok"] * 12, "kill", *["ok"] * 12)
    wait_until(lambda: len(effects()) == 24, seconds=60, what="the effects of the others")
    wait_until(DeadLetter.objects.exists, seconds=60, what="a dead letter")
    letter = DeadLetter.objects.get()
    assert (letter.key, letter.reason) == (str(keys[12]), Reason.KILLED_WORKER)
    assert "SIGKILL" in letter.error_message
    assert effects() == sorted(key for key in keys if key != keys[12])
    assert worker.exit_code is None


def test_a_replay_of_many_takes_each_effect_once() -> None:
    REPAIRED.touch()
    found = letters(LETTER_COUNT)
    order = replay(Selection(group=found[0].fingerprint), actor=SHELL)
    # A second copy of everything, as after a relay that was killed before it could mark what it had sent.
    wait_until(
        lambda: not Attempt.objects.filter(sent_at=None).exists(), seconds=SETTLE_SECONDS, what="the first sending"
    )
    Attempt.objects.update(sent_at=None, claimed_until=None)
    wait_until(tend, seconds=SETTLE_SECONDS, what="the end of the replay")
    wait_until(
        lambda: not Attempt.objects.filter(sent_at=None).exists(), seconds=SETTLE_SECONDS, what="the second sending"
    )
    wait_until(is_drained, seconds=SETTLE_SECONDS, what="an empty queue")
    assert effects() == sorted(UUID(letter.key) for letter in found)
    assert order.dead_letters.filter(state=State.RESOLVED).count() == LETTER_COUNT


def test_an_event_that_the_relay_does_not_know_is_listed_and_leaves_when_it_does() -> None:
    with transaction.atomic():
        publish(Doomed(sample_id=uuid4()))
        OutboxMessage.objects.update(name="sample.of_the_next_release", send_failure_count=4)
    wait_for_letters(1)
    letter = DeadLetter.objects.get()
    assert (letter.consumer, letter.reason) == ("baton.relay", Reason.UNKNOWN_EVENT)
    # The deploy: here the event gets the name that this release has.
    envelope = {**(letter.envelope or {}), "name": "sample.doomed"}
    DeadLetter.objects.update(event_name="sample.doomed", envelope=envelope)
    OutboxMessage.objects.update(name="sample.doomed")
    replay(Selection(ids=(letter.pk,)), actor=SHELL)
    wait_until(tend, what="the end of the replay")
    assert DeadLetter.objects.get().state == State.RESOLVED
    wait_until(ProcessedMessage.objects.exists, what="the effect")
    assert len(effects()) == 1
