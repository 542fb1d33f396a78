"""A raw message of the broker's dead-letter queue is read: what is in it, why it is there, whose it was.

Nothing here raises for what a message contains: what cannot be understood is kept as text. Source: Celery's message
protocol 2; RabbitMQ manual, "Dead Letter Exchanges" (broker writes the same headers on Redis).
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from kombu.message import Message

from baton_messaging.broker.dead_letter_headers import Death, death_of
from baton_messaging.conf import baton
from baton_messaging.database.text import storable
from baton_messaging.errors import BadBundle
from baton_messaging.messages.envelope import is_nested_deeper

#: Between the clocks of the task's sender, which wrote ``expires``, and of the broker, which wrote the time of death.
MAX_CLOCK_OFFSET: Final = timedelta(seconds=60)
NOWHERE: Final = "baton.?"  # stands in for the consumer of a message that names neither task nor queue
MAX_NAME_LENGTH: Final = 200
MAX_SHOWN_BYTES: Final = 64 * 1024  # of body and headers: the list keeps no more of what nobody can replay
MAX_SHOWN_DEPTH: Final = 20  # of headers: each level is indented by its depth, and a small message is a large text


@dataclass(frozen=True)
class Arrival:
    """One message of the dead-letter queue."""

    identity: UUID  # the same when the broker delivers it again
    content_identity: UUID  # the same also when it was sent again, and died again
    consumer: str
    task_id: str
    death: Death | None
    expires_at: datetime | None
    body: bytes
    content_type: str
    headers: dict[str, Any]

    @property
    def queue(self) -> str:
        """Return the queue in which it died; empty if nobody says so."""
        return self.death.queue if self.death else ""

    @property
    def has_expired_early(self) -> bool:
        """Tell whether the broker let it expire though its own time was not over: a policy says so, no sender."""
        if self.death is None or self.death.reason != "expired":
            return False
        return self.expires_at is None or self.expires_at > self.death.died_at + MAX_CLOCK_OFFSET

    @property
    def has_expired(self) -> bool:
        """Tell whether it died because its time was over."""
        if self.death is not None and self.death.reason == "expired":
            return True
        died_at = self.death.died_at if self.death else None
        return self.expires_at is not None and died_at is not None and self.expires_at.replace(microsecond=0) <= died_at

    @property
    def is_task(self) -> bool:
        """Tell whether it names a task and has the shape of one, whatever the task."""
        try:
            self._arguments()
        except BadBundle:
            return False
        return bool(_name(self.headers.get("task")))

    def argument(self) -> Any:
        """Return the one argument, which may be a bundle. Raises BadBundle."""
        args, kwargs = self._arguments()
        if kwargs or len(args) != 1:
            raise BadBundle("other arguments")
        return args[0]

    def _arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Read the body with plain JSON: kombu's own decoder would make objects of a forged one."""
        if len(self.body) > baton().max_message_bytes:
            raise BadBundle(f"a body of {len(self.body)} bytes, more than MAX_MESSAGE_BYTES")
        if self.headers.get("compression"):
            raise BadBundle("a compressed body")
        try:
            args, kwargs, _embed = json.loads(self.body)
        except (ValueError, TypeError, RecursionError) as error:
            raise BadBundle(f"a body of no protocol 2: {type(error).__name__}") from None
        if not isinstance(args, list) or not isinstance(kwargs, dict):
            raise BadBundle("a body of another shape than protocol 2")
        return args, kwargs

    def as_text(self) -> str:
        """Return it as JSON, for people: the body as text where it is text, else in base64; the beginning of it."""
        shown = self.body[:MAX_SHOWN_BYTES]
        try:
            body, encoding = shown.decode("utf-8", "strict" if shown == self.body else "ignore"), "utf-8"
        except UnicodeDecodeError:
            body, encoding = base64.b64encode(shown).decode("ascii"), "base64"
        kept = {
            "content_type": self.content_type,
            "body_encoding": encoding,
            "body": body,
            "body_bytes": len(self.body),
            "headers": _shown(self.headers),
        }
        return json.dumps(kept, indent=1, default=str, skipkeys=True)


def read(message: Message) -> Arrival:
    """Return what a message brought."""
    headers = dict(message.headers or {})
    death = _death_of(headers)
    body = message.body if isinstance(message.body, bytes) else str(message.body or "").encode("utf-8", "replace")
    return Arrival(
        identity=_identity(body, headers),
        content_identity=_hash([headers.get("id")], body),
        consumer=_consumer(headers, death),
        task_id=_name(headers.get("id")),
        death=death,
        expires_at=_time(headers.get("expires")),
        body=body,
        content_type=str(message.content_type or "")[:MAX_NAME_LENGTH],
        headers=headers,
    )


def _identity(body: bytes, headers: dict[str, Any]) -> UUID:
    """Hash what does not change when the broker delivers the message again: not the count of deliveries."""
    told = headers.get("x-death")
    deaths = [list(_death_parts(death)) for death in told if isinstance(death, dict)] if isinstance(told, list) else []
    return _hash([headers.get("id"), deaths], body)


def _hash(parts: list[Any], body: bytes) -> UUID:
    try:
        seen = json.dumps(parts, default=str, sort_keys=True).encode()
    except (RecursionError, TypeError, ValueError):
        seen = b""  # an id of no shape of ours: the body tells it from others
    return UUID(bytes=hashlib.sha256(seen + b"\x00" + body).digest()[:16])


def _death_parts(death: dict[str, Any]) -> Iterator[str]:
    for name in ("queue", "reason", "count", "time"):
        value = death.get(name)
        yield "" if isinstance(value, dict | list) else str(value)


def _shown(headers: dict[str, Any]) -> Any:
    """Return headers for people: as they are, or the beginning of their text."""
    try:
        text = json.dumps(headers, default=str, skipkeys=True)
    except (RecursionError, TypeError, ValueError) as error:
        return f"cannot be shown: {type(error).__name__}"
    return (
        headers
        if len(text) <= MAX_SHOWN_BYTES and not is_nested_deeper(headers, MAX_SHOWN_DEPTH)
        else text[:MAX_SHOWN_BYTES]
    )


def _death_of(headers: dict[str, Any]) -> Death | None:
    try:
        return death_of(headers)
    except Exception:  # headers are anybody's; a message put here by hand may have any
        return None


def _consumer(headers: dict[str, Any], death: Death | None) -> str:
    """Return the task's name, or a stand-in that leads to the owner of the queue it came from."""
    if task := _name(headers.get("task")):
        return task
    return _name(f"{death.queue[:MAX_NAME_LENGTH]}.?") if death else NOWHERE


def _name(value: Any) -> str:
    return storable(value[:MAX_NAME_LENGTH])[:MAX_NAME_LENGTH] if isinstance(value, str) else ""


def _time(value: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
