"""An edited copy is sent in place of a message that can never succeed as it is.

The copy has an id of its own and names the original as its cause. Invariant: of original and copy at most one takes
effect. The copy's making claims the original's place in the inbox in the same transaction; if the place is taken, the
original has had its effect and the edit is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db.models.functions import Now
from pydantic import ValidationError
from uuid_utils.compat import uuid7

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.operations import operation
from baton_messaging.database.text import unstorable
from baton_messaging.dead_letters.operations.errors import AlreadyApplied, BadPayload, NotChanged, NotEditable
from baton_messaging.dead_letters.operations.replay_rows import send_held
from baton_messaging.dead_letters.operations.resolve import tell_settled
from baton_messaging.errors import Undecodable, UnknownEvent
from baton_messaging.events import Event, event_class, misfits
from baton_messaging.flow_control.pauses import MAX_KEY_LENGTH
from baton_messaging.messages.envelope import Envelope
from baton_messaging.models import DeadLetter, ProcessedMessage, Replay
from baton_messaging.models.audit import Action
from baton_messaging.models.dead_letter import RELAY, State

MISSING: Final = "—"


@dataclass(frozen=True)
class Difference:
    """One field that is not the same any more; ``MISSING`` where it is not there."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Edit:
    """An edit that fits the event: the envelope of the copy, and what is different."""

    envelope: Envelope
    differences: list[Difference]


def check_edit(dead_letter: DeadLetter, payload: Any, *, version: int | None = None) -> Edit:
    """Return what the copy would be, without changing anything: the dry run.

    ``version`` is for a message whose version this release does not know; None keeps the original's.
    Raises NotEditable, BadPayload, NotChanged.
    """
    original = _editable(dead_letter)
    version = version or original.version
    event = _event(original, version, payload)
    changed = event.payload()
    found = differences(original.payload, changed)
    if not found and version == original.version:
        raise NotChanged
    copy = replace(
        original,
        message_id=uuid7(),
        causation_id=original.message_id,
        version=version,
        key=event.key,
        payload=changed,
    )
    return Edit(copy, found)


def edit_and_replay(
    dead_letter_id: int, payload: Any, *, actor: Actor, why: str, version: int | None = None
) -> DeadLetter:
    """Put an edited copy in the place of an open dead letter and replay that; return it. Raises OperationRefused."""
    with operation(actor, Action.EDIT, why=why, details={"dead_letter": dead_letter_id}) as done:
        dead_letter = DeadLetter.objects.select_for_update().filter(pk=dead_letter_id).first()
        if dead_letter is None:
            raise NotEditable(f"Expected the number of a dead letter, got {dead_letter_id}, which does not exist.")
        edit = check_edit(dead_letter, payload, version=version)
        _take_place_of(dead_letter, edit.envelope, by=actor.name)
        order = Replay.objects.create(
            requested_by=actor.name,
            why=done.why,
            selection={"ids": [dead_letter_id]},
            dead_letter_count=1,
            released_at=Now(),
        )
        copy = _copy(dead_letter, edit.envelope, order)
        send_held(order)
        tell_settled([dead_letter.key])
        done.touch([dead_letter.pk, copy.pk])
        done.details |= {
            "copy": copy.pk,
            "message_id": str(dead_letter.message_id),
            "copy_message_id": str(copy.message_id),
            "changed": [difference.path for difference in edit.differences],
        }
    return DeadLetter.objects.get(pk=copy.pk)


def differences(before: Any, after: Any, path: str = "") -> list[Difference]:
    """Return the fields that differ between two JSON values.

    >>> differences({"a": 1, "b": [1, {"c": 2}]}, {"a": 1, "b": [1, {"c": 3}, 4]})
    [Difference(path='b.1.c', before=2, after=3), Difference(path='b.2', before='—', after=4)]
    >>> differences({"a": 1}, {"a": 1})
    []
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return [found for name in sorted({*before, *after}) for found in _at(name, before, after, path)]
    if isinstance(before, list) and isinstance(after, list):
        longest = range(max(len(before), len(after)))
        pairs = dict(enumerate(before)), dict(enumerate(after))
        return [found for position in longest for found in _at(position, *pairs, path)]
    same = before == after and type(before) is type(after)
    return [] if same else [Difference(path, before, after)]


def _at(name: Any, before: dict[Any, Any], after: dict[Any, Any], path: str) -> Iterator[Difference]:
    yield from differences(before.get(name, MISSING), after.get(name, MISSING), f"{path}.{name}".lstrip("."))


def _editable(dead_letter: DeadLetter) -> Envelope:
    if dead_letter.state != State.OPEN:
        raise NotEditable(f"Expected an open dead letter, got one that is {dead_letter.state}.")
    if dead_letter.envelope is None or dead_letter.consumer == RELAY:
        raise NotEditable("Expected a message that a consumer could read, got one that never came so far.")
    try:
        return dead_letter.open_envelope()
    except Undecodable as error:
        raise NotEditable(str(error)) from error


def _event(original: Envelope, version: int, payload: Any) -> Event:
    """Return the event that is in a payload. Raises NotEditable, BadPayload: it fits the schema, and the columns.

    A person may not add a field that this release does not know; one that the original came with stays as it is.
    """
    name = original.name
    _refuse_unstorable(name, version, payload)
    try:
        known = event_class(name, version)
        event = known.from_payload(payload)
        known.model_validate(
            {field: value for field, value in payload.items() if not _is_carried(original, field, event)}
        )
    except UnknownEvent as error:
        raise NotEditable(str(error)) from error
    except ValidationError as error:
        raise BadPayload(name, version, misfits(error)) from None
    if len(event.key) > MAX_KEY_LENGTH:
        raise BadPayload(name, version, f"{event.key_field} (too_long)")
    _refuse_unstorable(name, version, event.payload())  # a text of its may have become a number that JSON has not
    return event


def _is_carried(original: Envelope, field: str, event: Event) -> bool:
    extra = event.model_extra or {}
    return field in extra and field in original.payload and original.payload[field] == extra[field]


def _refuse_unstorable(event_name: str, version: int, payload: Any) -> None:
    if places := [f"{place} (not_storable)" for place in unstorable(payload)]:
        raise BadPayload(event_name, version, ", ".join(places))


def _take_place_of(dead_letter: DeadLetter, copy: Envelope, *, by: str) -> None:
    original_id = dead_letter.open_envelope().message_id
    replaced = f"replaced by {copy.message_id}"
    if not ProcessedMessage.objects.claim(consumer=dead_letter.consumer, message_ids=[original_id], worker=replaced):
        raise AlreadyApplied
    # Not by the replay that it was a dead letter of, whose canary would pass for alive.
    DeadLetter.objects.filter(pk=dead_letter.pk).update(
        state=State.RESOLVED, settled_at=Now(), settled_by=by, replay=None, requested_at=None
    )


def _copy(dead_letter: DeadLetter, envelope: Envelope, order: Replay) -> DeadLetter:
    return DeadLetter.objects.create(
        message_id=envelope.message_id,
        consumer=dead_letter.consumer,
        event_name=envelope.name,
        key=envelope.key,
        owner=dead_letter.owner,
        reason=dead_letter.reason,
        error_class=dead_letter.error_class,
        error_message=dead_letter.error_message,
        traceback=dead_letter.traceback,
        attempt_count=dead_letter.attempt_count,
        envelope=envelope.as_dict(),
        fingerprint=dead_letter.fingerprint,
        occurred_at=dead_letter.occurred_at,
        first_failed_at=dead_letter.first_failed_at,
        died_at=dead_letter.died_at,
        replay=order,
        copy_of=dead_letter,
    )
