"""Errors classify what can go wrong with a message: their type decides what becomes of it.

A consumer raises TransientError (or another class of its ``autoretry_for``) when trying again may help, and anything
else when it will not: that message waits for a person. The other classes are raised by Baton itself.

| Raised by a consumer | What becomes of the message |
|---|---|
| ``TransientError``, and what ``ConsumerTask.autoretry_for`` names | tried again with backoff, until ``max_retries`` |
| ``PermanentError``, and any other error | a dead letter at the first try |
| an error because the database is away | requeued unchanged; costs no attempt |

*Hazard*. Texts are kept with the dead letter and shown to operators: ids, never names, addresses or payloads.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

__all__ = [
    "BadBundle",
    "BadEnvelope",
    "BadSignature",
    "EventTooLarge",
    "InvalidPayload",
    "MessagingError",
    "Misdirected",
    "NaiveTime",
    "PermanentError",
    "PublishOutsideTransaction",
    "TooOld",
    "TransientError",
    "Undecodable",
    "UnknownEvent",
]


class MessagingError(Exception):
    """Base class of all errors of this package.

    An error may cross from a child to its worker, by pickle. Python's own way back calls the class with the text, which
    one that puts its text together of other things does not take: the worker would end.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Be rebuilt of what it holds, past ``__init__``."""
        return _rebuilt, (type(self), self.args, vars(self))


def _rebuilt(error_class: type[MessagingError], args: tuple[Any, ...], attributes: dict[str, Any]) -> MessagingError:
    error = error_class.__new__(error_class, *args)
    error.args = args  # an OSError leaves that to __init__
    vars(error).update(attributes)
    return error


class TransientError(MessagingError):
    """Trying again later may succeed: the attempt is recorded and retried with backoff."""


class PermanentError(MessagingError):
    """Trying again cannot succeed: the message dies on the first try and waits for a person."""


class PublishOutsideTransaction(MessagingError):
    """Refuse to publish where nothing ties the message to the change that it tells of."""

    def __init__(self, event_name: str) -> None:
        super().__init__(
            f"Expected an open transaction around publish({event_name}), got autocommit. "
            "Wrap the change and its publish in one transaction.atomic() block."
        )


class EventTooLarge(MessagingError):
    """Refuse to publish what no worker would take."""

    def __init__(self, event_name: str, size: int, max_size: int) -> None:
        super().__init__(
            f"Expected an event of {max_size} bytes at most (half of MAX_MESSAGE_BYTES), got {event_name} of {size}. "
            "Publish the id of a row, or of a file, that holds the data."
        )


class NaiveTime(MessagingError, ValueError):
    """Refuse a time of which no one can tell when it is."""

    def __init__(self, given: object) -> None:
        super().__init__(
            f"Expected an aware datetime, got {given!r}. Say in which zone: "
            'datetime(2027, 3, 28, 9, 0, tzinfo=ZoneInfo("Europe/Berlin")), or timezone.now() + timedelta(hours=1).'
        )


class UnknownEvent(MessagingError):
    """Say that this code base has no such event, or not in that version."""

    def __init__(self, name: str, version: int | None = None) -> None:
        what = name if version is None else f"{name} version {version}"
        super().__init__(f"Expected an event that this release knows, got {what}. Deploy the release that has it.")


class BadEnvelope(MessagingError):
    """Base class: what came off the broker is not a message of ours."""


class BadSignature(BadEnvelope):
    """The signature does not match: forged, altered, or signed with a key that is gone."""

    def __init__(self) -> None:
        super().__init__("Expected a signature by SECRET_KEY or SECRET_KEY_FALLBACKS, got none that matches.")


class Undecodable(BadEnvelope):
    """The signature is right, but the content is no envelope."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"Expected an envelope, got something else: {detail}")


class Misdirected(BadEnvelope):
    """The envelope is genuine, and for another consumer or another event: it was moved in the broker."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(
            f"Expected an envelope for {expected}, got one for {found[:200]}. Its own copy lives its own life: find "
            "out what writes to this queue, and discard this one."
        )


class TooOld(BadEnvelope):
    """The envelope was sent longer ago than the inbox remembers: it may have been processed and forgotten."""

    def __init__(self, message_id: UUID, sealed_at: float) -> None:
        sent_at = datetime.fromtimestamp(sealed_at, UTC).isoformat(timespec="seconds")
        super().__init__(
            f"Expected a message that the inbox would remember (INBOX_RETENTION_DAYS), got one that was sent at "
            f"{sent_at} (message {message_id}). If it was never processed, replay it; otherwise discard it."
        )


class BadBundle(BadEnvelope):
    """The body is not the one list of sealed envelopes that the relay sends, or is beyond what it may be."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"Expected one list of sealed envelopes, got {detail}.")


class InvalidPayload(PermanentError):
    """The payload does not fit the event's schema. Names the fields, never their values."""

    def __init__(self, message_id: UUID, event_name: str, fields: str) -> None:
        super().__init__(
            f"Expected a payload that fits {event_name}, but these fields do not: {fields} (message {message_id})."
        )
