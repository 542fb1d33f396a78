"""An envelope carries an event: its identity, its causes, and a signature.

The envelope crosses the broker as one signed JSON string: kombu's own type decoding never touches user data, and a
message forged in the broker is refused. Signed with it are its address, which is one consumer, and the time at which
it was sent: a genuine envelope is good for nothing else (docs/decisions/a-message-is-valid-for-one-thing.md).
Keys rotate by SECRET_KEY_FALLBACKS. Source: django.core.signing.
"""

import json
import time
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.core import signing
from pydantic import ValidationError

from baton_messaging.errors import BadSignature, InvalidPayload, Undecodable
from baton_messaging.events import Event, event_class, misfits

MAX_NESTING: Final = 64  # levels of a payload: figures and ids need three
_CONTAINERS: Final = (dict, list, tuple)
_SALT = "baton.envelope"
_to_json = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Envelope:
    """One message, to however many consumers."""

    message_id: UUID
    name: str
    version: int
    key: str
    occurred_at: datetime
    correlation_id: UUID
    causation_id: UUID | None
    traceparent: str
    payload: dict[str, Any]

    def event(self) -> Event:
        """Return the event inside. Raises UnknownEvent, InvalidPayload."""
        try:
            return event_class(self.name, self.version).from_payload(self.payload)
        except ValidationError as error:
            raise InvalidPayload(self.message_id, self.name, misfits(error)) from None

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types: what is signed, and what a retry or a dead letter keeps."""
        return {
            "message_id": str(self.message_id),
            "name": self.name,
            "version": self.version,
            "key": self.key,
            "occurred_at": self.occurred_at.isoformat(),
            "correlation_id": str(self.correlation_id),
            "causation_id": str(self.causation_id) if self.causation_id else None,
            "traceparent": self.traceparent,
            "payload": self.payload,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Envelope":
        """Rebuild an envelope from as_dict(). Raises Undecodable."""
        try:
            return cls(
                message_id=UUID(data["message_id"]),
                name=data["name"],
                version=int(data["version"]),
                key=data["key"],
                occurred_at=datetime.fromisoformat(data["occurred_at"]),
                correlation_id=UUID(data["correlation_id"]),
                causation_id=UUID(data["causation_id"]) if data["causation_id"] else None,
                traceparent=data["traceparent"],
                payload=checked_payload(data["payload"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Undecodable(f"{type(error).__name__} in its fields") from None


def checked_payload(payload: Any) -> Any:
    """Return a payload whose nesting leaves room for all that encodes and decodes it. Raises Undecodable.

    Python's JSON raises RecursionError somewhere below 1,000 levels, depending on who calls: a payload that one process
    can read would be one that the next cannot.

    >>> checked_payload({"lines": [{"sku": "MUG"}]})
    {'lines': [{'sku': 'MUG'}]}
    """
    if is_nested_deeper(payload, MAX_NESTING):
        raise Undecodable(f"its payload is nested more than {MAX_NESTING} levels deep")
    return payload


def is_nested_deeper(value: Any, max_levels: int) -> bool:
    """Tell whether lists and dictionaries stand in each other to more than so many levels. Not recursive.

    >>> is_nested_deeper({"lines": [{}]}, 2), is_nested_deeper({"lines": [{}]}, 3), is_nested_deeper(1, 0)
    (True, False, False)
    """
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(max_levels):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, _CONTAINERS)
        ]
    return bool(level)


class Sealed(NamedTuple):
    """What a signature vouches for: the envelope, the one consumer it was sent to, and when (seconds since 1970).

    ``to`` is empty for what an earlier release has sent.
    """

    envelope: Envelope
    to: str
    sealed_at: float


def seal(envelope: Envelope, *, to: str, at: float | None = None) -> str:
    """Return the envelope as one signed JSON string, for the consumer ``to``, sent at the Unix time ``at`` (now)."""
    sealed_at = int(time.time() if at is None else at)
    # Put together as text: a copy of the dictionary with two entries more costs a tenth of all this.
    return _signer().sign(f'{{"to":{_to_json(to)},"sealed_at":{sealed_at},{_to_json(envelope.as_dict())[1:]}')


def unseal(sealed: str) -> Sealed:
    """Check the signature and return what it vouches for. Raises BadSignature, Undecodable.

    Whose it is and how old is for the caller to compare: messages/bundle.py.
    """
    try:
        text = _signer().unsign(sealed)
    except (signing.BadSignature, UnicodeEncodeError):  # a lone surrogate, which no text of ours has
        raise BadSignature from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise Undecodable("no JSON") from None
    envelope = Envelope.from_dict(data)
    if "to" not in data:  # of a release before 0.3, still under way: for each consumer of its event, as old as that
        return Sealed(envelope, "", envelope.occurred_at.timestamp())
    return Sealed(envelope, data["to"], data["sealed_at"])


def _signer() -> signing.Signer:
    return _signer_with(settings.SECRET_KEY, tuple(settings.SECRET_KEY_FALLBACKS))


@cache  # making one costs more than signing with it
def _signer_with(key: str, fallback_keys: tuple[str, ...]) -> signing.Signer:
    return signing.Signer(key=key, fallback_keys=list(fallback_keys), salt=_SALT)
