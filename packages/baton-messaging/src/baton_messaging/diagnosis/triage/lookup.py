"""The lookup of an id: of an order or export, of a message, or the number of a dead letter.

What people call a row by (the number on a page or in a mail) is looked up, too, by the apps (``SubjectKind.called``).
"""

from dataclasses import dataclass, replace
from uuid import UUID

from django.utils.translation import gettext

from baton_messaging.database.text import storable, typed_id
from baton_messaging.diagnosis.triage.subjects import find_called, label_of
from baton_messaging.errors import MessagingError
from baton_messaging.models import Attempt, DeadLetter, FutureMessage, OutboxMessage, ProcessedMessage

MAX_KEY_LENGTH = 200  # as long as the column
MAX_DIGITS = 18  # of a bigint
MAX_MESSAGES = 500  # about one key; a thousandth of it is more than a person reads


class BadId(MessagingError, ValueError):
    """What was given is no id."""

    def __init__(self, given: str) -> None:
        super().__init__(
            f"Expected the number or id of an order or export, the id of a message, or the number of a dead letter, "
            f"got {given[:60]!r}, of which nothing is known. Copy it from the page, the API or a log line."
        )


class AmbiguousId(BadId):
    """Several rows are called by what was given. ``candidates``: the kind of each in words, and its id."""

    def __init__(self, given: str, candidates: list[tuple[str, str]]) -> None:
        self.candidates = candidates
        named = ", ".join(f"{kind} {key}" for kind, key in candidates)
        MessagingError.__init__(self, f"Expected one row, but {given[:60]!r} stands for several: {named}. Take one.")


@dataclass(frozen=True)
class Lookup:
    """The rows that the id leads to. ``consumer``: only this one is meant, by its dead letter."""

    key: str
    rows: tuple[OutboxMessage, ...] = ()
    future: tuple[FutureMessage, ...] = ()  # that it is about, and that are not in the outbox
    later: tuple[FutureMessage, ...] = ()  # that will follow: no answer to how far it got, but to what still comes
    message_ids: tuple[UUID, ...] = ()
    dead_letters: tuple[DeadLetter, ...] = ()
    consumer: str = ""
    is_subject: bool = True
    is_called: bool = False  # it was found by what people call it, not by its id

    @property
    def events(self) -> frozenset[str]:
        """Return the names of the events that its messages tell of."""
        return frozenset({row.name for row in self.rows} | {row.name for row in self.future})

    @property
    def all_message_ids(self) -> list[UUID]:
        """Return the ids of all its messages."""
        return [*(row.message_id for row in self.rows), *self.message_ids]

    @property
    def has_unknown_events(self) -> bool:
        """Tell whether a message is known by its id only."""
        return bool(set(self.message_ids) - {row.message_id for row in self.rows})


def look_up(text: str) -> Lookup:
    """Find what an id or a number leads to; nothing found for a UUID or a whole number is an answer, too.

    Raises BadId; AmbiguousId, which is one, when several rows are called so.
    """
    if not text or text != storable(text) or len(text) > MAX_KEY_LENGTH:
        raise BadId(text)
    if found := _key(text):
        return found
    typed = typed_id(text)
    try:
        return _of_uuid(UUID(typed))
    except ValueError:
        return _of_number(text, typed)


def about(keys: list[str]) -> tuple[OutboxMessage, ...]:
    """Return the messages about some keys, the oldest first."""
    rows = OutboxMessage.objects.filter(key__any_of=keys).order_by("pk").defer("payload")
    return tuple(rows[: MAX_MESSAGES * len(keys)])


def _of_uuid(wanted: UUID) -> Lookup:
    return _key(str(wanted)) or _message(wanted) or Lookup(str(wanted))


def _of_number(given: str, typed: str) -> Lookup:
    """Find the row that people call so, or the dead letter of this number."""
    is_number = typed.isascii() and typed.isdecimal() and len(typed) <= MAX_DIGITS
    numbered = _dead_letter(int(typed)) if is_number else None
    called = find_called(typed) if typed else []
    candidates = [(label_of(kind), key) for kind, key in called]
    if numbered and numbered.dead_letters and called:
        candidates.append((gettext("dead letter"), typed))
    if len(candidates) > 1:
        raise AmbiguousId(given, candidates)
    if called:
        key = called[0][1]
        return replace(_key(key) or Lookup(key), is_called=True)
    if numbered is None:
        raise BadId(given)
    return numbered


def _key(key: str) -> Lookup | None:
    """Return the messages about a key: those that were sent, or are to be, and those that wait for their time."""
    rows = about([key])
    waiting = FutureMessage.objects.waiting().filter(key=key).order_by("due_at", "pk").defer("payload")
    future = tuple(waiting[:MAX_MESSAGES])
    if rows:
        return Lookup(key, rows, later=future)
    return Lookup(key, future=future) if future else None


def _dead_letter(number: int) -> Lookup:
    dead_letter = DeadLetter.objects.filter(pk=number).first()
    if dead_letter is None:
        return Lookup(str(number), is_subject=False)
    ids = (dead_letter.message_id,) if dead_letter.message_id else ()
    rows = tuple(OutboxMessage.objects.filter(message_id__in=ids).defer("payload"))
    return Lookup(
        dead_letter.key,
        rows,
        message_ids=ids,
        dead_letters=(dead_letter,),
        consumer=dead_letter.consumer,
        is_subject=False,
    )


def _message(message_id: UUID) -> Lookup | None:
    """Return a message, also one that has left the outbox by retention."""
    row = OutboxMessage.objects.filter(message_id=message_id).defer("payload").first()
    if row is not None:
        return Lookup(row.key, (row,), is_subject=False)
    future = FutureMessage.objects.filter(message_id=message_id).defer("payload").first()
    if future is not None:
        return Lookup(future.key, future=(future,), is_subject=False)
    for model in (Attempt, DeadLetter, ProcessedMessage):
        if model._default_manager.filter(message_id=message_id).exists():
            return Lookup(str(message_id), message_ids=(message_id,), is_subject=False)
    return None
