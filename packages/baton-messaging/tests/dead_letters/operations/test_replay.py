from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from threading import Barrier
from typing import Any

import pytest
from baton_messaging.audit.errors import NotPermitted, OperationRefused
from baton_messaging.dead_letters.operations.discard import discard
from baton_messaging.dead_letters.operations.edit import edit_and_replay
from baton_messaging.dead_letters.operations.errors import BadSelection, NothingToDo
from baton_messaging.dead_letters.operations.replay import CANARY_DIED, advance, release, replay, stop
from baton_messaging.dead_letters.operations.replay_plan import Fate, dry_run
from baton_messaging.dead_letters.operations.replay_rows import send_held
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import Attempt, AuditEntry, DeadLetter, OutboxMessage, Replay
from baton_messaging.models.dead_letter import RELAY, Reason, State
from baton_messaging.recovery.settlement import settle
from baton_messaging.signals import dead_letters_settled
from django.db import connection
from django.utils import timezone

from tests.dead_letters.factories import SHELL, a_letter, an_actor, apply, die_again, letters

pytestmark = pytest.mark.django_db


def one(letter: DeadLetter) -> Selection:
    return Selection(ids=(letter.pk,))


def states(**where: Any) -> list[str]:
    return list(DeadLetter.objects.filter(**where).order_by("pk").values_list("state", flat=True))


def test_a_replay_writes_what_the_relay_sends_and_keeps_the_message_id() -> None:
    letter = a_letter()
    replay(one(letter), actor=SHELL)
    attempt = Attempt.objects.get()
    assert (attempt.message_id, attempt.consumer) == (letter.message_id, letter.consumer)
    assert (attempt.round, attempt.attempt, attempt.sent_at) == (1, 0, None)
    assert attempt.due_at <= timezone.now()
    assert attempt.envelope == letter.envelope
    assert attempt.traceback == letter.traceback  # what it had died of stays on record
    assert states() == [State.REQUESTED]


def test_a_requested_letter_is_resolved_only_when_the_inbox_has_its_row() -> None:
    letter = a_letter()
    replay(one(letter), actor=SHELL)
    assert resolve_applied() == 0
    assert states() == [State.REQUESTED]
    apply(letter)
    assert resolve_applied() == 1
    letter.refresh_from_db()
    assert letter.state == State.RESOLVED
    assert letter.settled_at is not None


def test_an_open_letter_is_not_resolved_behind_the_operator_s_back() -> None:
    letter = a_letter()
    apply(letter)
    assert resolve_applied() == 0
    assert states() == [State.OPEN]


def test_a_letter_that_dies_again_is_open_again_with_the_new_death() -> None:
    letter = a_letter()
    replay(one(letter), actor=SHELL)
    die_again(letter)
    letter.refresh_from_db()
    assert (letter.state, letter.error_class, letter.replay_count) == (State.OPEN, "KeyError", 1)
    assert DeadLetter.objects.count() == 1
    replay(one(letter), actor=SHELL)
    assert list(Attempt.objects.order_by("round").values_list("round", "error_class")) == [
        (1, "ValueError"),
        (2, "KeyError"),
    ]


def test_a_message_that_arrives_after_it_was_taken_for_dead_again_resolves_its_letter() -> None:
    letter = a_letter()
    replay(one(letter), actor=SHELL)
    die_again(letter)
    apply(letter)
    assert resolve_applied() == 1


def test_the_dry_run_tells_every_fate_and_changes_nothing() -> None:
    letters(3)
    for letter in letters(8):
        apply(letter)
    a_letter(occurred_at=timezone.now() - timedelta(days=200))
    a_letter(state=State.REQUESTED)
    a_letter(state=State.DISCARDED, settled_at=timezone.now())
    a_letter(envelope=None, raw="???", message_id=None)
    a_letter(consumer="sample.renamed")
    before = list(DeadLetter.objects.order_by("pk").values())
    plan = dry_run(Selection(text="sample"))
    assert plan.as_dict() == {
        Fate.APPLIES: 3,
        Fate.IS_APPLIED: 8,
        Fate.MAY_REPEAT: 1,
        Fate.REQUESTED: 1,
        Fate.SETTLED: 1,
        Fate.UNREADABLE: 1,
        Fate.NO_CONSUMER: 1,
    }
    assert [text for _fate, text in plan.sentences()][:3] == [
        "3 would be applied.",
        "8 were already applied and are no-ops.",
        "1 has no inbox record any more: it may repeat.",
    ]
    assert list(DeadLetter.objects.order_by("pk").values()) == before
    assert not AuditEntry.objects.exists()


def test_what_the_inbox_has_is_resolved_without_being_sent() -> None:
    letter = a_letter()
    apply(letter)
    replay(one(letter), actor=SHELL)
    assert states() == [State.RESOLVED]
    assert not Attempt.objects.exists()


def test_the_app_hears_of_what_the_inbox_gets_while_a_replay_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    letter = a_letter()
    heard: list[set[str]] = []
    looks: list[str] = []

    def hear(*, keys: set[str], **_kwargs: Any) -> None:
        heard.append(keys)

    def apply_after_the_look(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if "baton_inbox" in sql and not looks:
            looks.append(sql)
            apply(letter)
        return found

    def send_slowly(*args: Any, **options: Any) -> list[int]:
        with connection.execute_wrapper(apply_after_the_look):
            return send_held(*args, **options)

    monkeypatch.setattr("baton_messaging.dead_letters.operations.replay.send_held", send_slowly)
    dead_letters_settled.connect(hear)
    try:
        replay(one(letter), actor=SHELL)
        resolve_applied()
    finally:
        dead_letters_settled.disconnect(hear)
    assert looks
    assert states() == [State.RESOLVED]
    assert heard == [{letter.key}]


def test_what_the_inbox_may_have_forgotten_is_replayed_only_when_asked_for() -> None:
    letter = a_letter(occurred_at=timezone.now() - timedelta(days=200))
    with pytest.raises(NothingToDo):
        replay(one(letter), actor=SHELL)
    replay(one(letter), actor=SHELL, may_repeat=True)
    assert states() == [State.REQUESTED]


def test_a_canary_goes_first_and_the_rest_follows_when_it_is_through() -> None:
    all_letters = letters(5)
    order = replay(Selection(group=all_letters[0].fingerprint), actor=SHELL, canary_count=2)
    assert states() == [State.REQUESTED] * 2 + [State.OPEN] * 3
    apply(all_letters[0])
    resolve_applied()
    advance()
    assert states() == [State.RESOLVED, State.REQUESTED] + [State.OPEN] * 3
    apply(all_letters[1])
    resolve_applied()
    advance()
    assert states() == [State.RESOLVED] * 2 + [State.REQUESTED] * 3
    order.refresh_from_db()
    assert order.released_at is not None


def test_a_canary_that_dies_again_stops_the_replay() -> None:
    all_letters = letters(5)
    order = replay(Selection(group=all_letters[0].fingerprint), actor=SHELL, canary_count=1)
    die_again(all_letters[0])
    advance()
    order.refresh_from_db()
    assert order.stopped_because == CANARY_DIED
    assert states() == [State.OPEN] * 5
    entry = AuditEntry.objects.get(action="stop")
    assert (entry.actor, entry.via, entry.why) == ("Baton", "machinery", CANARY_DIED)


def discard_it(letter: DeadLetter) -> None:
    discard(one(letter), actor=SHELL, why="not needed")


def replay_it_alone(letter: DeadLetter) -> None:
    replay(one(letter), actor=SHELL)


def edit_it(letter: DeadLetter) -> None:
    payload = {**letter.open_envelope().payload, "behaviour": "permanent"}
    edit_and_replay(letter.pk, payload, actor=SHELL, why="wrong behaviour")


@pytest.mark.parametrize("deal_with", [discard_it, replay_it_alone, edit_it])
def test_a_canary_that_died_and_was_dealt_with_before_anybody_looked_stops_the_replay(deal_with: Any) -> None:
    canary, *rest = letters(5)
    order = replay(Selection(group=canary.fingerprint), actor=SHELL, canary_count=1)
    die_again(canary)
    canary.refresh_from_db()
    deal_with(canary)
    advance()
    order.refresh_from_db()
    assert order.stopped_because == CANARY_DIED
    assert states(pk__in=[letter.pk for letter in rest]) == [State.OPEN] * 4


def test_an_operator_may_go_on_without_the_canary() -> None:
    all_letters = letters(3)
    order = replay(Selection(group=all_letters[0].fingerprint), actor=SHELL, canary_count=1)
    assert release(order.pk, actor=SHELL) == 2
    assert states() == [State.REQUESTED] * 3
    with pytest.raises(NothingToDo):
        release(order.pk, actor=SHELL)


def test_a_rate_cap_spreads_the_messages() -> None:
    all_letters = letters(4)
    replay(Selection(group=all_letters[0].fingerprint), actor=SHELL, rate_per_second=2)
    due = list(Attempt.objects.order_by("due_at").values_list("due_at", flat=True))
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(due)]
    assert gaps == pytest.approx([0.5] * 3, abs=0.01)


def test_a_stop_calls_back_what_has_not_been_sent() -> None:
    all_letters = letters(4)
    order = replay(Selection(group=all_letters[0].fingerprint), actor=SHELL, rate_per_second=1)
    (first,), _is_circuit_open = Attempt.objects.claim_due(limit=1, lease=timedelta(seconds=30))
    Attempt.objects.mark_sent([first])
    assert stop(order.pk, actor=SHELL, why="wrong template") == 3
    assert states() == [State.REQUESTED] + [State.OPEN] * 3
    assert Attempt.objects.count() == 1
    with pytest.raises(NothingToDo):
        stop(order.pk, actor=SHELL)
    replay(Selection(group=all_letters[0].fingerprint), actor=SHELL)
    assert states() == [State.REQUESTED] * 4


def test_a_stop_leaves_what_a_relay_has_in_hand() -> None:
    letter = a_letter()
    order = replay(one(letter), actor=SHELL)
    Attempt.objects.claim_due(limit=10, lease=timedelta(seconds=30))
    assert stop(order.pk, actor=SHELL) == 0
    assert states() == [State.REQUESTED]


def test_a_stop_calls_back_what_has_not_been_sent_though_another_copy_died_meanwhile() -> None:
    died, *rest = letters(3)
    order = replay(Selection(group=died.fingerprint), actor=SHELL, rate_per_second=1)
    die_again(died)
    assert stop(order.pk, actor=SHELL) == 1 + len(rest)
    assert states() == [State.OPEN] * 3
    assert not Attempt.objects.exists()


def test_a_stop_calls_back_what_an_earlier_replay_has_not_sent_of_what_is_held_back() -> None:
    all_letters = letters(2)
    group = Selection(group=all_letters[0].fingerprint)
    replay(group, actor=SHELL, rate_per_second=1)
    for letter in all_letters:
        die_again(letter)
    order = replay(Selection(ids=tuple(letter.pk for letter in all_letters)), actor=SHELL, canary_count=1)
    assert stop(order.pk, actor=SHELL) == 2
    assert not Attempt.objects.exists()
    assert list(AuditEntry.objects.filter(action="stop").values_list("dead_letter_count", flat=True)) == [2]


def of_the_relay(count: int, *, is_pruned: bool = False) -> tuple[list[DeadLetter], Selection]:
    """Return letters of an event that the relay did not know, each with its outbox row, unless that is gone."""
    found = letters(count, consumer=RELAY, reason=Reason.UNKNOWN_EVENT)
    rows = [] if is_pruned else [OutboxMessage.of(letter.open_envelope()) for letter in found]
    for row in rows:
        row.published_at, row.settled_at, row.sent_to = timezone.now(), timezone.now(), [RELAY]
    OutboxMessage.objects.bulk_create(rows)
    return found, Selection(ids=tuple(letter.pk for letter in found))


def claim(count: int) -> list[OutboxMessage]:
    return OutboxMessage.objects.claim(limit=count, lease=timedelta(seconds=30))


@pytest.mark.parametrize("is_pruned", [False, True])
def test_a_rate_cap_spreads_what_the_relay_did_not_know(is_pruned: bool) -> None:
    _letters, group = of_the_relay(3, is_pruned=is_pruned)
    at_rate = letters(1)[0]
    replay(Selection(ids=(*group.ids, at_rate.pk)), actor=SHELL, rate_per_second=2)
    times = OutboxMessage.objects.waiting().order_by("available_at").values_list("available_at", flat=True)
    due = [*times, Attempt.objects.get().due_at]
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(due)]
    assert gaps == pytest.approx([0.5] * 3, abs=0.01)
    assert len(claim(10)) == 1


@pytest.mark.parametrize("is_pruned", [False, True])
def test_a_stop_calls_back_what_the_relay_did_not_know_and_has_not_taken(is_pruned: bool) -> None:
    all_letters, group = of_the_relay(4, is_pruned=is_pruned)
    order = replay(group, actor=SHELL, rate_per_second=1)
    assert len(claim(10)) == 1  # the first is in a relay's hand, the others are still to come
    assert stop(order.pk, actor=SHELL, why="wrong release") == 3
    assert states() == [State.REQUESTED] + [State.OPEN] * 3
    assert OutboxMessage.objects.waiting().get().message_id == all_letters[0].message_id
    OutboxMessage.objects.filter(published_at=None).update(available_at=timezone.now())
    assert len(claim(10)) == 1
    assert AuditEntry.objects.get(action="stop").dead_letter_count == 3
    assert resolve_applied() == 0  # what was called back is no message that was sent
    replay(group, actor=SHELL)
    assert len(claim(10)) == 3
    assert states() == [State.REQUESTED] * 4


def test_a_stop_calls_back_what_was_due_at_once_and_what_a_relay_gave_back() -> None:
    _letters, group = of_the_relay(3)
    order = replay(group, actor=SHELL)
    OutboxMessage.objects.release(claim(1))
    assert stop(order.pk, actor=SHELL) == 3
    assert (states(), claim(10)) == ([State.OPEN] * 3, [])


def test_what_a_stop_took_out_of_the_outbox_is_settled_and_known_to_whom_it_was_sent_as_before() -> None:
    (letter,), group = of_the_relay(1)
    stop(replay(group, actor=SHELL).pk, actor=SHELL)
    settle()
    row = OutboxMessage.objects.get()
    assert (row.published_at, row.sent_to) == (letter.died_at, [RELAY])
    assert row.settled_at is not None


def test_a_relay_that_sends_while_its_replay_is_stopped_keeps_its_message() -> None:
    _letters, group = of_the_relay(1)
    order = replay(group, actor=SHELL)
    (row,) = claim(1)
    assert stop(order.pk, actor=SHELL) == 0
    assert OutboxMessage.objects.mark_published({row: ["sample.die"]}) == 1
    assert resolve_applied() == 1
    assert states() == [State.RESOLVED]


def test_a_canary_of_what_the_relay_did_not_know_that_dies_again_stops_the_replay() -> None:
    all_letters, group = of_the_relay(5)
    order = replay(group, actor=SHELL, canary_count=3, rate_per_second=1)
    (row,) = claim(10)
    die_again(all_letters[0])
    OutboxMessage.objects.mark_published({row: [RELAY]})
    advance()
    order.refresh_from_db()
    assert order.stopped_because == CANARY_DIED
    assert states() == [State.OPEN] * 5
    assert not OutboxMessage.objects.waiting().exists()


def test_a_canary_of_what_the_relay_did_not_know_that_is_sent_lets_the_rest_go() -> None:
    _letters, group = of_the_relay(3)
    replay(group, actor=SHELL, canary_count=1)
    OutboxMessage.objects.mark_published({row: ["sample.die"] for row in claim(10)})
    resolve_applied()
    advance()
    assert states() == [State.RESOLVED] + [State.REQUESTED] * 2
    assert len(claim(10)) == 2


def test_nothing_is_replayed_by_an_empty_selection() -> None:
    a_letter()
    with pytest.raises(BadSelection):
        replay(Selection(), actor=SHELL)
    assert states() == [State.OPEN]


def test_who_lacks_the_right_is_refused_and_that_is_audited() -> None:
    letter = a_letter()
    actor = an_actor("view")
    with pytest.raises(NotPermitted, match=r"messaging\.replay_deadletter"):
        replay(one(letter), actor=actor, why="please")
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.outcome, entry.why) == ("olga", "replay", "refused", "please")
    assert entry.details["refusal"]["code"] == "not_permitted"
    assert states() == [State.OPEN]


def test_a_replay_is_audited_with_who_why_and_which_letters() -> None:
    letter = a_letter()
    actor = an_actor("replay")
    order = replay(one(letter), actor=actor, why="template repaired")
    entry = AuditEntry.objects.get()
    assert actor.user is not None
    assert (entry.actor, entry.user_id, entry.via, entry.outcome) == ("olga", actor.user.pk, "desk", "done")
    assert entry.why == "template repaired"
    assert entry.details["replay"] == order.pk
    assert entry.details["plan"]["applies"] == 1
    assert list(entry.dead_letters.values_list("dead_letter_id", "message_id")) == [(letter.pk, letter.message_id)]


def at_once(*calls: Any) -> list[Any]:
    """Run the calls in threads that start together; return results, or the refusals."""
    start = Barrier(len(calls))

    def run(call: Any) -> Any:
        start.wait(timeout=30)
        try:
            return call()
        except OperationRefused as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_repeat", range(5))
def test_of_two_operators_at_once_exactly_one_replays(_repeat: int) -> None:
    letter = a_letter()
    answers = at_once(*[lambda: replay(one(letter), actor=SHELL)] * 4)
    assert sum(isinstance(answer, Replay) for answer in answers) == 1
    assert sum(isinstance(answer, NothingToDo) for answer in answers) == 3
    assert Attempt.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_repeat", range(5))
def test_a_replay_that_races_a_discard_has_one_winner(_repeat: int) -> None:
    all_letters = letters(20)
    group = Selection(group=all_letters[0].fingerprint)
    at_once(
        lambda: replay(group, actor=SHELL),
        lambda: discard(group, actor=SHELL, why="not needed"),
        lambda: discard(Selection(ids=(all_letters[3].pk, all_letters[1].pk)), actor=SHELL, why="nor these"),
    )
    requested = DeadLetter.objects.filter(state=State.REQUESTED).count()
    discarded = DeadLetter.objects.filter(state=State.DISCARDED).count()
    assert requested + discarded == 20
    assert Attempt.objects.count() == requested


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_repeat", range(5))
def test_of_several_that_look_at_a_dead_canary_at_once_one_stops_the_replay(_repeat: int) -> None:
    all_letters = letters(3)
    replay(Selection(group=all_letters[0].fingerprint), actor=SHELL, canary_count=1)
    die_again(all_letters[0])
    assert at_once(*[advance] * 4) == [None] * 4
    assert list(AuditEntry.objects.filter(action="stop").values_list("outcome", flat=True)) == ["done"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_repeat", range(3))
def test_of_a_relay_and_a_stop_at_once_each_message_goes_to_exactly_one(_repeat: int) -> None:
    _letters, group = of_the_relay(300)
    order = replay(group, actor=SHELL)
    claimed, count = at_once(lambda: claim(150), lambda: stop(order.pk, actor=SHELL))
    assert len(claimed) + count == 300
    on_their_way = DeadLetter.objects.filter(state=State.REQUESTED).values_list("message_id", flat=True)
    assert set(on_their_way) == {row.message_id for row in claimed}
    assert OutboxMessage.objects.mark_published({row: ["sample.die"] for row in claimed}) == len(claimed)
    assert not OutboxMessage.objects.waiting().exists()
