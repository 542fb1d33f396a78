"""The lookup of an id: of an order or export, of a message, or the number of a dead letter."""

from dataclasses import dataclass
from uuid import UUID

from baton_messaging.database.text import storable
from baton_messaging.errors import MessagingError
from baton_messaging.models import Attempt, DeadLetter, FutureMessage, OutboxMessage, ProcessedMessage

MAX_KEY_LENGTH = 200  # as long as the column
MAX_DIGITS = 18  # of a bigint
MAX_MESSAGES = 500  # about one key; a thousandth of it is more than a person reads


class BadId(MessagingError, ValueError):
    """What was given is no id."""

    def __init__(self, given: str) -> None:
        super().__init__(
            f"Expected the id of an order, export or message, or the number of a dead letter, got {given[:60]!r}, "
            "of which nothing is known. Copy it from the page, the API or a log line."
        )


@dataclass(frozen=True)
class Lookup:
    """The rows that the id leads to. ``consumer``: only this one is meant, by its dead letter."""

    key: str
    rows: tuple[OutboxMessage, ...] = ()
    future: tuple[FutureMessage, ...] = ()  # that are not in the outbox
    message_ids: tuple[UUID, ...] = ()
    dead_letters: tuple[DeadLetter, ...] = ()
    consumer: str = ""
    is_subject: bool = True

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
    """Find what an id leads to; nothing found for a UUID or a number is an answer, too. Raises BadId."""
    if not text or text != storable(text) or len(text) > MAX_KEY_LENGTH:
        raise BadId(text)
    if found := _key(text):
        return found
    if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS:
        return _dead_letter(int(text))
    try:
        wanted = UUID(text)
    except ValueError:
        raise BadId(text) from None
    return _key(str(wanted)) or _message(wanted) or Lookup(str(wanted))


def about(keys: list[str]) -> tuple[OutboxMessage, ...]:
    """Return the messages about some keys, the oldest first."""
    rows = OutboxMessage.objects.filter(key__any_of=keys).order_by("pk").defer("payload")
    return tuple(rows[: MAX_MESSAGES * len(keys)])


def _key(key: str) -> Lookup | None:
    """Return the messages about a key: those that were sent, or are to be, and those that wait for their time."""
    rows = about([key])
    waiting = FutureMessage.objects.waiting().filter(key=key).order_by("due_at", "pk").defer("payload")
    future = tuple(waiting[:MAX_MESSAGES])
    return Lookup(key, rows, future) if rows or future else None


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
