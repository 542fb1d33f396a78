"""The context of a consumer's code: the messages in flight, which a follow-up names as its cause.

Invariant: outside a consumer nothing is in flight, and a published event starts a correlation of its own (or takes the
one of the web request).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

import structlog

from baton_messaging.messages.envelope import Envelope

_IN_FLIGHT: ContextVar[dict[str, Envelope]] = ContextVar("messages_in_flight")
_CORRELATION_ID: ContextVar[UUID | None] = ContextVar("correlation_id", default=None)


@contextmanager
def messages_in_flight(envelopes: Sequence[Envelope]) -> Iterator[None]:
    """Name the messages that the code inside works on; what it logs about a single one carries its correlation_id."""
    token = _IN_FLIGHT.set({envelope.key: envelope for envelope in envelopes})
    named = {"correlation_id": str(envelopes[0].correlation_id)} if len(envelopes) == 1 else {}
    try:
        with structlog.contextvars.bound_contextvars(**named):
            yield
    finally:
        _IN_FLIGHT.reset(token)


@contextmanager
def correlation(correlation_id: UUID) -> Iterator[None]:
    """Let everything published inside carry this correlation_id (a web request, a script)."""
    token = _CORRELATION_ID.set(correlation_id)
    try:
        yield
    finally:
        _CORRELATION_ID.reset(token)


def cause_of(key: str) -> Envelope | None:
    """Return the message that an event about ``key`` follows from.

    With one message in flight it is that one; in a bundle it is the one about the same aggregate, or None.
    """
    in_flight = _IN_FLIGHT.get({})
    if len(in_flight) == 1:
        return next(iter(in_flight.values()))
    return in_flight.get(key)


def current_correlation_id() -> UUID | None:
    """Return the correlation_id of the message in flight, or of the request, or None."""
    in_flight = _IN_FLIGHT.get({})
    if len(in_flight) == 1:
        return next(iter(in_flight.values())).correlation_id
    return _CORRELATION_ID.get()
