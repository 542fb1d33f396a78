import pytest
from baton_messaging.audit.errors import NotPermitted, WhyMissing
from baton_messaging.dead_letters.operations.errors import BadRedirect, NothingToDo
from baton_messaging.dead_letters.operations.redirect import candidates, redirect
from baton_messaging.dead_letters.operations.replay_plan import Fate, dry_run
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import AuditEntry, DeadLetter, ProcessedMessage
from baton_messaging.models.dead_letter import Reason

from tests.dead_letters.factories import SHELL, a_letter, an_actor, apply, death_after_the_look, letters

pytestmark = pytest.mark.django_db


def test_letters_of_a_renamed_consumer_go_to_the_new_name_and_can_be_replayed() -> None:
    found = letters(3, consumer="sample.die_v1", reason=Reason.UNKNOWN_TASK)
    group = Selection(group=found[0].fingerprint)
    assert dry_run(group).count(Fate.NO_CONSUMER) == 3
    assert candidates(found[0]) == ["sample.die"]
    assert redirect(group, to="sample.die", actor=SHELL, why="renamed in release 7") == 3
    moved = Selection(consumer="sample.die")
    assert dry_run(moved).count(Fate.APPLIES) == 3
    entry = AuditEntry.objects.get()
    assert entry.details["from"] == ["sample.die_v1"]
    assert entry.details["to"] == "sample.die"
    assert entry.dead_letter_count == 3


def test_a_consumer_of_another_event_is_refused() -> None:
    letter = a_letter(consumer="sample.die_v1")
    for other in ("sample.take_one", "sample.nothing"):
        with pytest.raises(BadRedirect, match=r"There is: sample\.die"):
            redirect(Selection(ids=(letter.pk,)), to=other, actor=SHELL, why="x")
    letter.refresh_from_db()
    assert letter.consumer == "sample.die_v1"


def test_what_the_old_name_has_applied_stays_where_it_is() -> None:
    letter = a_letter(consumer="sample.die_v1")
    apply(letter)
    with pytest.raises(NothingToDo):
        redirect(Selection(ids=(letter.pk,)), to="sample.die", actor=SHELL, why="x")


def test_another_consumer_that_has_had_its_own_copy_does_not_take_it() -> None:
    letter = a_letter(consumer="sample.die_v1")
    ProcessedMessage.objects.create(message_id=letter.open_envelope().message_id, consumer="sample.die")
    with pytest.raises(NothingToDo):
        redirect(Selection(ids=(letter.pk,)), to="sample.die", actor=SHELL, why="x")


def test_the_letters_of_a_consumer_that_is_there_stay_with_it() -> None:
    letter = a_letter(consumer="sample.die")
    assert candidates(letter) == []
    with pytest.raises(NothingToDo):
        redirect(Selection(ids=(letter.pk,)), to="sample.take_one", actor=SHELL, why="x")


def test_a_message_that_the_new_name_has_on_the_list_is_not_doubled() -> None:
    letter = a_letter(consumer="sample.die_v1")
    a_letter(consumer="sample.die", message_id=letter.message_id)
    with pytest.raises(NothingToDo):
        redirect(Selection(ids=(letter.pk,)), to="sample.die", actor=SHELL, why="x")


def test_a_message_that_dies_under_the_new_name_meanwhile_stays_and_harms_no_other() -> None:
    first, dead, last = letters(3, consumer="sample.die_v1")
    with death_after_the_look(consumer="sample.die", message_id=dead.message_id):
        assert redirect(Selection(group=first.fingerprint), to="sample.die", actor=SHELL, why="x") == 2
    consumers = dict(DeadLetter.objects.values_list("pk", "consumer"))
    assert [consumers[letter.pk] for letter in (first, dead, last)] == ["sample.die", "sample.die_v1", "sample.die"]
    entry = AuditEntry.objects.get()
    assert sorted(entry.dead_letters.values_list("dead_letter_id", flat=True)) == [first.pk, last.pk]


def test_a_message_that_is_alone_and_dies_under_the_new_name_meanwhile_is_not_doubled() -> None:
    letter = a_letter(consumer="sample.die_v1")
    selection = Selection(ids=(letter.pk,))
    with death_after_the_look(consumer="sample.die", message_id=letter.message_id), pytest.raises(NothingToDo):
        redirect(selection, to="sample.die", actor=SHELL, why="x")


def test_of_two_letters_of_a_message_the_newer_one_moves() -> None:
    older = a_letter(consumer="sample.die_v1")
    newer = a_letter(consumer="sample.die_v2", message_id=older.message_id)
    assert redirect(Selection(ids=(older.pk, newer.pk)), to="sample.die", actor=SHELL, why="x") == 1
    assert set(DeadLetter.objects.values_list("pk", "consumer")) == {
        (older.pk, "sample.die_v1"),
        (newer.pk, "sample.die"),
    }


def test_a_redirect_demands_a_reason_and_the_right_to_edit() -> None:
    letter = a_letter(consumer="sample.die_v1")
    selection = Selection(ids=(letter.pk,))
    with pytest.raises(WhyMissing):
        redirect(selection, to="sample.die", actor=SHELL, why="")
    with pytest.raises(NotPermitted):
        redirect(selection, to="sample.die", actor=an_actor("view", "replay", "discard"), why="x")
