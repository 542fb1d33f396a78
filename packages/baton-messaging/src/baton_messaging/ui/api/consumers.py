"""The kill switch for scripts: JSON for the staff, below /api/consumers. The same functions, rights and audit."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Body, Field, Router, Schema
from ninja.errors import HttpError
from ninja.responses import Status as Answer
from ninja.security import django_auth_is_staff
from pydantic import ConfigDict

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.errors import BadText, NotPermitted, OperationRefused, WhyMissing
from baton_messaging.audit.rights import Right
from baton_messaging.flow_control.listing import listing
from baton_messaging.flow_control.pauses import MAX_KEY_LENGTH, MAX_NAME_LENGTH, Target, UnknownTarget, pause, resume
from baton_messaging.ui.api.rights import demand
from baton_messaging.ui.api.schemas import Refusal
from baton_messaging.ui.desk.forms import MAX_WHY_LENGTH

router = Router(tags=["consumers"], auth=django_auth_is_staff)

_REFUSED = {403: Refusal, 409: Refusal, 422: Refusal}


class ConsumerOut(Schema):
    """A consumer, or a key of an event that is held."""

    name: str
    state: str = Field(description="running | paused | half-open")
    owner: str
    waiting_count: int
    detail: str


class TargetIn(Schema):
    """What to hold or to let go: a consumer; or an event and a key, for all consumers of the event."""

    model_config = ConfigDict(extra="forbid")

    consumer: str = Field("", max_length=MAX_NAME_LENGTH)
    event_name: str = Field("", max_length=MAX_NAME_LENGTH)
    key: str = Field("", max_length=MAX_KEY_LENGTH)
    why: str = Field("", max_length=MAX_WHY_LENGTH)

    def target(self) -> Target:
        """Return what is named."""
        return Target(consumer=self.consumer, event_name=self.event_name, key=self.key)


class Held(Schema):
    """What is held, or was."""

    target: str


@router.get("", response={200: list[ConsumerOut], **_REFUSED}, summary="List consumers, and what holds them")
def list_consumers(request: HttpRequest) -> Any:
    """Return each consumer with its owner, and each key that is held."""
    demand(request, Right.SEE_CONSUMERS)
    return [line.as_dict() for line in listing()]


@router.post("/pause", response={201: Held, **_REFUSED}, summary="Pause a consumer, or a key of an event")
def pause_target(request: HttpRequest, body: Annotated[TargetIn, Body()]) -> Any:
    """Hold it back from now on. What waits costs no attempt."""
    target = body.target()
    try:
        pause(target, actor=Actor.of_request(request, via="api"), why=body.why)
    except OperationRefused as refusal:
        raise _refused(refusal) from refusal
    return Answer(201, {"target": str(target)})


@router.post("/resume", response={200: Held, **_REFUSED}, summary="Resume")
def resume_target(request: HttpRequest, body: Annotated[TargetIn, Body()]) -> Any:
    """Let it go on: what waited leaves at once."""
    target = body.target()
    try:
        resume(target, actor=Actor.of_request(request, via="api"), why=body.why)
    except OperationRefused as refusal:
        raise _refused(refusal) from refusal
    return {"target": str(target)}


def _refused(refusal: OperationRefused) -> HttpError:
    if isinstance(refusal, NotPermitted):
        return HttpError(403, str(refusal))
    return HttpError(422 if isinstance(refusal, BadText | UnknownTarget | WhyMissing) else 409, str(refusal))
