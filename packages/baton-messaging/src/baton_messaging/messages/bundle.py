"""A bundle carries one or more sealed envelopes to one consumer: what one Celery message holds, opened once.

Invariant: what ``open`` lets through is for this consumer, genuine, and each message once. Everything else is refused
by name: a body that is no bundle at all as a whole (BadBundle), one envelope of it for itself. Nothing here raises
another error for what a broker's message may contain, and nothing is decoded that is larger than it may be.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from baton_messaging.conf import baton
from baton_messaging.errors import BadBundle, BadEnvelope, Misdirected, TooOld
from baton_messaging.events import is_known
from baton_messaging.messages.envelope import Envelope, seal, unseal


@dataclass(frozen=True, slots=True)
class Refused:
    """One sealed envelope that must not be processed, and why; with its envelope, where it is genuine and for us."""

    sealed: str
    error: BadEnvelope
    envelope: Envelope | None = None


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a Celery message brings to a consumer: the readable envelopes by their sealed strings, and the refused."""

    consumer: str
    readable: Mapping[str, Envelope]
    refused: Sequence[Refused] = ()

    @classmethod
    def of(cls, consumer: str, envelopes: Sequence[Envelope]) -> "Bundle":
        """Seal messages for a consumer, as of now."""
        now = time.time()
        return cls(consumer, {seal(envelope, to=consumer, at=now): envelope for envelope in envelopes})

    @classmethod
    def open(
        cls, consumer: str, sealed: object, *, event_name: str = "", max_age_seconds: float | None = None
    ) -> "Bundle":
        """Open what arrived for a consumer. Raises BadBundle for what is no list of sealed envelopes.

        Refused one by one: what is not genuine, is for another consumer or another event than ``event_name`` (empty:
        the consumer is unknown here), or was sent longer ago than ``max_age_seconds`` (None: a dead letter may be old).
        An event that this release does not know is let through: running it says so, and it waits for the release.
        """
        readable: dict[UUID, tuple[str, Envelope]] = {}
        refused: list[Refused] = []
        oldest = None if max_age_seconds is None else time.time() - max_age_seconds
        for text in _checked(sealed):
            found = _opened(text, consumer, event_name, oldest)
            if isinstance(found, Refused):
                refused.append(found)
            else:
                readable.setdefault(found.message_id, (text, found))
        return cls(consumer, dict(readable.values()), tuple(refused))

    @property
    def envelopes(self) -> list[Envelope]:
        """Return the messages that may be processed, in the order in which they came."""
        return list(self.readable.values())

    @property
    def sealed(self) -> list[str]:
        """Return all of it as it came: what is sent on unchanged."""
        return [*self.readable, *(refused.sealed for refused in self.refused)]

    @property
    def message_ids(self) -> list[UUID]:
        """Return the ids of the messages that may be processed."""
        return [envelope.message_id for envelope in self.readable.values()]

    def __len__(self) -> int:
        """Return how many envelopes it holds, refused ones included."""
        return len(self.readable) + len(self.refused)

    def only(self, message_ids: Collection[UUID]) -> "Bundle":
        """Return a bundle of some of the readable messages, sealed as they were."""
        kept = {text: envelope for text, envelope in self.readable.items() if envelope.message_id in message_ids}
        return Bundle(self.consumer, kept)

    def pieces(self, *, max_count: int) -> Iterator["Bundle"]:
        """Yield the readable messages in bundles of up to ``max_count``, none larger than a worker takes.

        A body is JSON of JSON, in which each quote takes two: half of MAX_MESSAGE_BYTES is what fits for sure.
        """
        piece: dict[str, Envelope] = {}
        room = baton().max_message_bytes // 2
        for text, envelope in self.readable.items():
            if piece and (len(piece) == max_count or len(text) > room):
                yield Bundle(self.consumer, piece)
                piece, room = {}, baton().max_message_bytes // 2
            piece[text] = envelope
            room -= len(text)
        if piece:
            yield Bundle(self.consumer, piece)

    def parts(self) -> Iterator["Bundle"]:
        """Yield each envelope in a bundle of its own, sealed as it was."""
        for text, envelope in self.readable.items():
            yield Bundle(self.consumer, {text: envelope})
        for refused in self.refused:
            yield Bundle(self.consumer, {}, (refused,))


def _checked(sealed: object) -> list[str]:
    """Return the strings of a list that may be a bundle. Raises BadBundle."""
    config = baton()
    if not isinstance(sealed, list):
        raise BadBundle(f"a {type(sealed).__name__}")
    if not sealed:
        raise BadBundle("an empty list")
    if len(sealed) > config.max_bundle_size:
        raise BadBundle(f"{len(sealed)} entries, more than MAX_BUNDLE_SIZE ({config.max_bundle_size})")
    if odd := {type(one).__name__ for one in sealed if not isinstance(one, str)}:
        raise BadBundle(f"a list with {', '.join(sorted(odd))}")
    if sum(map(len, sealed)) > config.max_message_bytes:
        raise BadBundle(f"more than MAX_MESSAGE_BYTES ({config.max_message_bytes})")
    return sealed


def _opened(text: str, consumer: str, event_name: str, oldest: float | None) -> Envelope | Refused:
    try:
        opened = unseal(text)
    except BadEnvelope as error:
        return Refused(text, error)
    envelope = opened.envelope
    if opened.to not in ("", consumer):
        return Refused(text, Misdirected(f"consumer {consumer}", opened.to))
    if event_name not in ("", envelope.name) and is_known(envelope.name):
        return Refused(text, Misdirected(f"event {event_name}", envelope.name), envelope if opened.to else None)
    if oldest is not None and opened.sealed_at < oldest:
        return Refused(text, TooOld(envelope.message_id, opened.sealed_at), envelope)
    return envelope
