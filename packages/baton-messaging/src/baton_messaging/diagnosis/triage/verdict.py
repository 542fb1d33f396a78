"""A verdict of triage: state, owner, evidence and next step as codes with values; ``wording`` has the sentences."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from baton_messaging.conf import Team
from baton_messaging.health.diagnosis import Confidence, Diagnosis


class State(StrEnum):
    """How far a message got. The order is that of its way."""

    NOT_PUBLISHED = "not published"
    ROW_GONE = "row gone"
    NOT_DUE = "not due yet"
    CANCELLED = "cancelled"
    WAITING = "waiting for the relay"
    RELAY_STALLED = "relay stalled"
    HELD = "held"
    RETRYING = "retrying"
    QUEUED = "queued"
    NOBODY_CONSUMES = "nobody consumes the queue"
    RUNNING = "running"
    LOST = "lost by the broker, will be sent again"
    ELSEWHERE = "taken elsewhere"
    DEAD = "dead"
    DONE = "done"
    UNKNOWN = "not known"


@dataclass(frozen=True)
class Phrase:
    """A code with its values: evidence, a state's detail, or an open question. ``wording`` makes a sentence of it."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """What to do next. ``command`` is typed in a shell, ``link`` a page; ``dead_letter_id`` leads to the desk."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    dead_letter_id: int | None = None
    link: str = ""


@dataclass(frozen=True)
class Verdict:
    """How far one message got with one consumer, and whose it is. Without a consumer it is about the row itself.

    ``detail`` is the code of what goes in brackets behind the state, ``needs_person`` whether waiting will not do.
    ``cause``: what keeps it from going on lies deeper than the message's own way, and owner and step are the cause's.
    """

    state: State
    owner: Team
    step: Step
    needs_person: bool
    consumer: str = ""
    event: str = ""
    message_id: UUID | None = None
    detail: Phrase | None = None
    evidence: tuple[Phrase, ...] = ()
    open_questions: tuple[Phrase, ...] = ()
    confidence: Confidence = Confidence.LIKELY
    cause: Diagnosis | None = None


def phrase(code: str, **values: Any) -> Phrase:
    """Make a phrase."""
    return Phrase(code, values)
