from datetime import timedelta
from typing import Any

import pytest
from baton_messaging.audit.errors import NotPermitted, WhyMissing
from baton_messaging.dead_letters.operations.discard import discard, restore
from baton_messaging.dead_letters.operations.errors import BadSelection, NothingToDo
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import Attempt, AuditEntry, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import RELAY, State
from baton_messaging.signals import dead_lettered, dead_letters_settled
from django.utils import timezone

from tests.dead_letters.factories import SHELL, a_letter, an_actor, death_after_the_look, die_again, letters

pytestmark = pytest.mark.django_db


def one(letter: DeadLetter) -> Selection:
    return Selection(ids=(letter.pk,))


def test_a_discard_demands_a_reason() -> None:
    letter = a_letter()
    with pytest.raises(WhyMissing):
        discard(one(letter), actor=SHELL, why=" ")
    letter.refresh_from_db()
    assert letter.state == State.OPEN
    assert AuditEntry.objects.get().outcome == "refused"


def test_what_was_discarded_can_be_restored_until_its_purge_date() -> None:
    letter = a_letter()
    discard(one(letter), actor=SHELL, why="test order")
    letter.refresh_from_db()
    assert letter.state == State.DISCARDED
    assert letter.purge_at is not None
    assert timedelta(days=29) < letter.purge_at - timezone.now() <= timedelta(days=30)
    restore(one(letter), actor=SHELL)
    restored = DeadLetter.objects.get()
    assert restored.state == State.OPEN
    assert restored.settled_at is None
    assert restored.purge_at is None
    assert list(AuditEntry.objects.order_by("pk").values_list("action", "why")) == [
        ("discard", "test order"),
        ("restore", ""),
    ]


def test_only_open_letters_are_discarded() -> None:
    requested, opened = letters(2)
    replay(one(requested), actor=SHELL)
    assert discard(Selection(group=opened.fingerprint), actor=SHELL, why="x") == 1
    requested.refresh_from_db()
    assert requested.state == State.REQUESTED
    with pytest.raises(NothingToDo):
        discard(one(requested), actor=SHELL, why="x")
    with pytest.raises(BadSelection):
        discard(Selection(), actor=SHELL, why="x")


def test_what_was_discarded_is_not_sent_by_a_replay_that_it_was_to_leave_with() -> None:
    discarded, other = letters(2)
    replay(Selection(group=discarded.fingerprint), actor=SHELL, rate_per_second=1)
    die_again(discarded)
    discard(one(discarded), actor=SHELL, why="x")
    assert Attempt.objects.get(sent_at=None).message_id == other.message_id


def test_what_was_discarded_of_an_event_that_the_relay_did_not_know_leaves_the_outbox() -> None:
    discarded, other = letters(2, consumer=RELAY)
    replay(Selection(group=discarded.fingerprint), actor=SHELL, rate_per_second=1)
    die_again(discarded)
    discard(one(discarded), actor=SHELL, why="x")
    assert OutboxMessage.objects.waiting().get().message_id == other.message_id


def test_a_discard_leaves_what_a_relay_has_in_hand() -> None:
    letter = a_letter()
    replay(one(letter), actor=SHELL)
    (claimed,), _is_circuit_open = Attempt.objects.claim_due(limit=1, lease=timedelta(seconds=30))
    die_again(letter)
    discard(one(letter), actor=SHELL, why="x")
    assert Attempt.objects.mark_sent([claimed]) == 1


def test_a_letter_whose_message_died_anew_stays_discarded() -> None:
    letter = a_letter()
    discard(one(letter), actor=SHELL, why="x")
    a_letter(message_id=letter.message_id)
    with pytest.raises(NothingToDo):
        restore(one(letter), actor=SHELL)


def test_of_several_discarded_letters_of_one_message_the_newest_is_restored() -> None:
    first = a_letter()
    discard(one(first), actor=SHELL, why="x")
    second = a_letter(message_id=first.message_id)
    discard(one(second), actor=SHELL, why="x")
    assert restore(Selection(ids=(first.pk, second.pk)), actor=SHELL) == 1
    assert DeadLetter.objects.get(state=State.OPEN) == second


def test_a_letter_whose_message_dies_anew_while_it_is_restored_stays_discarded_and_harms_no_other() -> None:
    first, anew, last = letters(3)
    group = Selection(group=anew.fingerprint)
    discard(group, actor=SHELL, why="x")
    with death_after_the_look(message_id=anew.message_id):
        assert restore(group, actor=SHELL) == 2
    states = dict(DeadLetter.objects.values_list("pk", "state"))
    assert [states[letter.pk] for letter in (first, anew, last)] == [State.OPEN, State.DISCARDED, State.OPEN]
    entry = AuditEntry.objects.get(action="restore")
    assert sorted(entry.dead_letters.values_list("dead_letter_id", flat=True)) == [first.pk, last.pk]


def test_the_restoring_of_nothing_but_a_letter_whose_message_dies_anew_meanwhile_is_refused() -> None:
    letter = a_letter()
    discard(one(letter), actor=SHELL, why="x")
    with death_after_the_look(message_id=letter.message_id), pytest.raises(NothingToDo):
        restore(one(letter), actor=SHELL)
    assert AuditEntry.objects.get(action="restore").outcome == "refused"


def test_discarding_needs_its_own_right() -> None:
    letter = a_letter()
    with pytest.raises(NotPermitted):
        discard(one(letter), actor=an_actor("view", "replay", "edit"), why="x")
    assert discard(one(letter), actor=an_actor("discard", name="dora"), why="x") == 1


def test_the_app_hears_when_the_last_letter_of_an_aggregate_is_settled() -> None:
    heard: list[Any] = []

    def hear(*, keys: set[str], **_kwargs: Any) -> None:
        heard.append(keys)

    def hear_death(*, key: str, **_kwargs: Any) -> None:
        heard.append(key)

    first = a_letter()
    second = a_letter(key=first.key)
    dead_letters_settled.connect(hear)
    dead_lettered.connect(hear_death)
    try:
        discard(one(first), actor=SHELL, why="x")
        assert heard == []
        discard(one(second), actor=SHELL, why="x")
        assert heard == [{first.key}]
        restore(one(second), actor=SHELL)
        assert heard == [{first.key}, first.key]
    finally:
        dead_letters_settled.disconnect(hear)
        dead_lettered.disconnect(hear_death)
