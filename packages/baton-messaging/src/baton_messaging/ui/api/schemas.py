"""Schemas of the desk's API: what it takes and what it returns."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Schema
from pydantic import ConfigDict

from baton_messaging.dead_letters.operations.replay_progress import ReplayProgress
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import Replay
from baton_messaging.ui.desk.forms import MAX_CANARY, MAX_RATE, MAX_WHY_LENGTH

MAX_PAGE_SIZE = 200


class Refusal(Schema):
    """Why nothing was done."""

    detail: str
    errors: list[Any] = []


class Filters(Schema):
    """What dead letters must have in common, as a query string; ``ids`` are separated by commas."""

    model_config = ConfigDict(extra="forbid")

    ids: str = ""
    group: str = ""
    consumer: str = ""
    owner: str = ""
    reason: str = ""
    state: str = ""
    replay: str = ""
    text: str = Field("", description="An order id, a message id, or a part of the error's text")
    since: str = Field("", description="Died at or after, ISO 8601")
    until: str = Field("", description="Died before, ISO 8601")
    page: int = Field(1, ge=1)
    page_size: int = Field(50, ge=1, le=MAX_PAGE_SIZE)

    def selection(self) -> Selection:
        """Return the selection. Raises BadSelection."""
        return Selection.of(self.model_dump(exclude={"page", "page_size"}))


class SelectionIn(Schema):
    """Which dead letters are meant: fields of the list's filter, ``ids`` as a list of numbers."""

    selection: dict[str, Any]

    def selected(self) -> Selection:
        """Return the selection. Raises BadSelection."""
        return Selection.of(self.selection)


class WhyIn(Schema):
    """A reason for the audit."""

    why: str = Field("", max_length=MAX_WHY_LENGTH)


class DecisionIn(SelectionIn, WhyIn):
    """Dead letters and a reason."""


class ReplayIn(SelectionIn, WhyIn):
    """Dead letters, and at what pace."""

    canary_count: int = Field(0, ge=0, le=MAX_CANARY)
    rate_per_second: int = Field(0, ge=0, le=MAX_RATE)
    may_repeat: bool = False


class RedirectIn(DecisionIn):
    """Dead letters, and who gets them."""

    to: str


class EditIn(WhyIn):
    """The payload of the copy."""

    payload: dict[str, Any]
    version: int | None = None
    dry_run: bool = False


class DeadLetterOut(Schema):
    """A line of the list."""

    id: int
    message_id: UUID | None
    consumer: str
    event_name: str
    key: str
    owner: str
    reason: str
    state: str
    error_class: str
    error_message: str
    attempt_count: int
    replay_count: int
    group: str = Field(alias="fingerprint")
    first_failed_at: datetime
    died_at: datetime
    settled_at: datetime | None
    settled_by: str
    seen_count: int = Field(description="How often it arrived: more than once only of what is no message of ours.")


class DeadLetterDetails(DeadLetterOut):
    """All that is known."""

    traceback: str
    envelope: dict[str, Any] | None
    raw: str
    task_id: str
    occurred_at: datetime | None
    requested_at: datetime | None
    purge_at: datetime | None
    replay_id: int | None
    copy_of_id: int | None


class DeadLetterPage(Schema):
    """A page of the list."""

    count: int
    page: int
    items: list[DeadLetterOut]


class GroupOut(Schema):
    """Equal failures."""

    group: str = Field(alias="fingerprint")
    consumer: str
    owner: str
    reason: str
    error_class: str
    error_message: str
    open_count: int
    requested_count: int
    first_at: datetime
    last_at: datetime


class PlanOut(Schema):
    """The dry run."""

    fates: dict[str, int]
    sentences: list[str]


class ReplayAccepted(Schema):
    """A replay has begun."""

    replay_id: int
    dead_letter_count: int
    status_url: str


class ReplayOut(Schema):
    """How far a replay is."""

    replay_id: int
    state: str
    resolved: int
    under_way: int
    held: int
    died: int
    is_over: bool
    stopped_because: str

    @classmethod
    def of(cls, order: Replay, progress: ReplayProgress) -> "ReplayOut":
        """Return the figures."""
        state = "stopped" if order.stopped_at else "watching" if order.is_watching else "released"
        return cls(
            replay_id=order.pk,
            state=state,
            resolved=progress.resolved,
            under_way=progress.under_way,
            held=progress.held,
            died=progress.died,
            is_over=progress.is_over_for(order),
            stopped_because=order.stopped_because,
        )


class Changed(Schema):
    """How many dead letters changed."""

    dead_letter_count: int


class EditOut(Schema):
    """What the copy changes; ``copy_id`` is null for a dry run."""

    differences: list[dict[str, Any]]
    copy_id: int | None
