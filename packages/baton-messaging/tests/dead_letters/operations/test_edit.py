from uuid import uuid4

import pytest
from baton_messaging.audit.errors import NotPermitted, OperationRefused, WhyMissing
from baton_messaging.dead_letters.operations.edit import (
    MISSING,
    Difference,
    check_edit,
    differences,
    edit_and_replay,
)
from baton_messaging.dead_letters.operations.errors import AlreadyApplied, BadPayload, NotChanged, NotEditable
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.diagnosis.progress import progress_of
from baton_messaging.events import Event
from baton_messaging.messages.envelope import Envelope
from baton_messaging.models import Attempt, AuditEntry, DeadLetter, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import State

from tests.dead_letters.factories import SHELL, a_letter, an_actor, apply

pytestmark = pytest.mark.django_db


def repaired(letter: DeadLetter) -> dict[str, str]:
    return {**letter.open_envelope().payload, "behaviour": "repaired"}


def test_the_copy_has_an_id_of_its_own_and_names_the_original_as_its_cause() -> None:
    letter = a_letter(behaviour="permanent")
    copy = edit_and_replay(letter.pk, repaired(letter), actor=SHELL, why="wrong behaviour")
    assert copy.copy_of == letter
    assert copy.message_id != letter.message_id
    assert copy.state == State.REQUESTED
    envelope = Envelope.from_dict(Attempt.objects.get().envelope)
    assert envelope.message_id == copy.message_id
    assert envelope.causation_id == letter.message_id
    assert envelope.correlation_id == letter.open_envelope().correlation_id
    assert envelope.payload["behaviour"] == "repaired"


def test_of_original_and_copy_only_the_copy_can_take_effect() -> None:
    letter = a_letter()
    edit_and_replay(letter.pk, repaired(letter), actor=SHELL, why="wrong")
    letter.refresh_from_db()
    assert letter.state == State.RESOLVED
    claimed = ProcessedMessage.objects.claim(
        consumer=letter.consumer, message_ids=[letter.open_envelope().message_id], worker="late"
    )
    assert claimed == set()  # a copy of the original that arrives late finds its place taken


def test_an_original_that_was_applied_is_not_replaced() -> None:
    letter = a_letter()
    apply(letter)
    with pytest.raises(AlreadyApplied):
        edit_and_replay(letter.pk, repaired(letter), actor=SHELL, why="wrong")
    letter.refresh_from_db()
    assert letter.state == State.OPEN
    assert DeadLetter.objects.count() == 1
    assert AuditEntry.objects.get().outcome == "refused"


def test_the_dry_run_shows_the_difference_and_changes_nothing() -> None:
    letter = a_letter(behaviour="permanent")
    edit = check_edit(letter, repaired(letter))
    assert edit.differences == [Difference("behaviour", "permanent", "repaired")]
    assert DeadLetter.objects.count() == 1
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("change", "refusal", "text"),
    [
        ({"sample_id": "no uuid"}, BadPayload, r"sample_id \(uuid_parsing\)"),
        ({"unknown": 1}, BadPayload, r"unknown \(extra_forbidden\)"),
        ({}, NotChanged, "Replay the message as it is"),
    ],
)
def test_a_payload_that_does_not_fit_is_refused(
    change: dict[str, object], refusal: type[OperationRefused], text: str
) -> None:
    letter = a_letter()
    with pytest.raises(refusal, match=text):
        edit_and_replay(letter.pk, {**letter.open_envelope().payload, **change}, actor=SHELL, why="x")
    assert not Attempt.objects.exists()
    assert not ProcessedMessage.objects.exists()


def test_a_field_that_only_another_release_knows_stays_and_cannot_be_changed() -> None:
    letter = a_letter(behaviour="permanent")
    letter.envelope["payload"]["newer"] = 1
    letter.save()
    payload = letter.open_envelope().payload
    edit = check_edit(letter, {**payload, "behaviour": "repaired"})
    assert edit.envelope.payload == {**payload, "behaviour": "repaired"}
    with pytest.raises(BadPayload, match=r"newer \(extra_forbidden\)"):
        check_edit(letter, {**payload, "newer": 2})


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"behaviour": "a\x00b"}, r"behaviour \(not_storable\)"),
        ({"behaviour": "\ud800"}, r"behaviour \(not_storable\)"),
        ({"a\x00b\ud800": 1}, r"a\\x00b\\ud800 \(not_storable\)"),
    ],
    ids=ascii,
)
def test_a_payload_that_no_column_can_hold_is_refused_with_its_field_and_audited(
    change: dict[str, object], place: str
) -> None:
    letter = a_letter()
    payload = {**letter.open_envelope().payload, **change}
    with pytest.raises(BadPayload, match=place):
        check_edit(letter, payload)
    with pytest.raises(BadPayload, match=place):
        edit_and_replay(letter.pk, payload, actor=SHELL, why="x")
    assert AuditEntry.objects.get().outcome == "refused"
    letter.refresh_from_db()
    assert letter.state == State.OPEN


class Loose(Event, name="sample.loose", version=1, key="name"):
    """Takes whatever fits a Python type."""

    name: str
    amount: float = 1.0
    tags: dict[str, list[str]] = {}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"name": "x" * 201}, r"name \(too_long\)"),
        ({"amount": "Infinity"}, r"amount \(not_storable\)"),
        ({"tags": {"a": ["b", "\x00"]}}, r"tags\.a\.1 \(not_storable\)"),
        ({"tags": {"\ud800": []}}, r"tags\.\\ud800 \(not_storable\)"),
    ],
    ids=ascii,
)
def test_what_fits_the_event_and_no_column_is_refused(change: dict[str, object], place: str) -> None:
    letter = a_letter()
    envelope = {**(letter.envelope or {}), "name": "sample.loose", "payload": {"name": "a"}}
    DeadLetter.objects.update(event_name="sample.loose", envelope=envelope)
    with pytest.raises(BadPayload, match=place):
        edit_and_replay(letter.pk, {"name": "b", **change}, actor=SHELL, why="x")
    edit_and_replay(letter.pk, {"name": "b" * 200}, actor=SHELL, why="x")


@pytest.mark.parametrize("payload", [None, [], "text", 1])
def test_a_payload_that_is_no_object_is_refused(payload: object) -> None:
    with pytest.raises(BadPayload):
        edit_and_replay(a_letter().pk, payload, actor=SHELL, why="x")


def test_an_edit_demands_a_reason_and_the_right() -> None:
    letter = a_letter()
    with pytest.raises(WhyMissing):
        edit_and_replay(letter.pk, repaired(letter), actor=SHELL, why="  ")
    with pytest.raises(NotPermitted):
        edit_and_replay(letter.pk, repaired(letter), actor=an_actor("view", "replay"), why="x")
    assert list(AuditEntry.objects.values_list("action", "outcome")) == [("edit", "refused")] * 2


def test_what_is_settled_or_unreadable_is_not_edited() -> None:
    unreadable = a_letter(envelope=None, message_id=None, raw="???")
    with pytest.raises(NotEditable):
        edit_and_replay(unreadable.pk, {}, actor=SHELL, why="x")
    requested = a_letter()
    replay(Selection(ids=(requested.pk,)), actor=SHELL)
    with pytest.raises(NotEditable):
        edit_and_replay(requested.pk, repaired(requested), actor=SHELL, why="x")
    with pytest.raises(NotEditable):
        edit_and_replay(0, {}, actor=SHELL, why="x")


def test_the_order_s_progress_follows_the_copy() -> None:
    key = uuid4()
    letter = a_letter(key)
    OutboxMessage.of(letter.open_envelope()).save()
    assert [step.state for step in progress_of(str(key))] == ["dead"]
    copy = edit_and_replay(letter.pk, repaired(letter), actor=SHELL, why="wrong")
    assert [step.state for step in progress_of(str(key))] == ["retrying"]
    apply(copy)
    resolve_applied()
    assert [step.state for step in progress_of(str(key))] == ["done"]


def test_a_field_that_comes_or_goes_is_shown_as_missing() -> None:
    assert differences({"a": None}, {"b": None}) == [Difference("a", None, MISSING), Difference("b", MISSING, None)]
    assert differences({"a": 1}, {"a": True}) == [Difference("a", 1, True)]
