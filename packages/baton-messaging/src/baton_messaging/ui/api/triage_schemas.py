"""The shape of triage in the API."""

from datetime import datetime

from ninja import Schema


class NextStepOut(Schema):
    """What to do next: a sentence, and where it applies a command and the path of a page."""

    text: str
    command: str
    url: str


class VerdictOut(Schema):
    """How far one message got with one consumer. ``consumer`` is empty where the row itself is meant."""

    consumer: str
    event: str
    message_id: str
    state: str
    state_text: str
    owner_name: str
    owner_email: str
    evidence: list[str]
    open_questions: list[str]
    next_step: NextStepOut
    needs_person: bool


class TriageOut(Schema):
    """All verdicts on one id."""

    id: str
    asked_at: datetime
    needs_person: bool
    verdicts: list[VerdictOut]
