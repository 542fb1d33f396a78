"""The desk for scripts: JSON for the staff, below /api/dead-letters. The same functions, rights and audit."""

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import reverse
from ninja import Body, Query, Router
from ninja.errors import HttpError
from ninja.responses import Status as Answer
from ninja.security import django_auth_is_staff

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.errors import BadText, NotPermitted, OperationRefused
from baton_messaging.audit.rights import Right
from baton_messaging.dead_letters.operations.discard import discard, restore
from baton_messaging.dead_letters.operations.edit import check_edit, edit_and_replay
from baton_messaging.dead_letters.operations.errors import BadPayload, BadSelection
from baton_messaging.dead_letters.operations.groups import groups_of
from baton_messaging.dead_letters.operations.redirect import redirect
from baton_messaging.dead_letters.operations.replay import advance, release, replay, stop
from baton_messaging.dead_letters.operations.replay_plan import dry_run
from baton_messaging.dead_letters.operations.replay_progress import progress_of
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.models import DeadLetter, Replay
from baton_messaging.ui.api import schemas
from baton_messaging.ui.api.rights import demand

router = Router(tags=["dead letters"], auth=django_auth_is_staff)

_REFUSED = {403: schemas.Refusal, 404: schemas.Refusal, 409: schemas.Refusal, 422: schemas.Refusal}


def _refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Answer a refused operation with a status, and its reason."""

    @wraps(function)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        demand(request, Right.SEE_DEAD_LETTERS)
        try:
            return function(request, *args, **kwargs)
        except NotPermitted as refusal:
            raise HttpError(403, str(refusal)) from refusal
        except (BadSelection, BadText, BadPayload) as refusal:
            raise HttpError(422, str(refusal)) from refusal
        except OperationRefused as refusal:
            raise HttpError(409, str(refusal)) from refusal

    return answer


@router.get("", response={200: schemas.DeadLetterPage, **_REFUSED}, summary="List dead letters")
@_refusing
def list_dead_letters(request: HttpRequest, filters: Annotated[schemas.Filters, Query()]) -> Any:
    """Return the dead letters that match, the newest first."""
    resolve_applied()
    dead_letters = filters.selection().dead_letters().order_by("-died_at", "-pk")
    found = Paginator(dead_letters, filters.page_size).get_page(filters.page)
    return {"count": found.paginator.count, "page": found.number, "items": list(found)}


@router.get("/groups", response={200: list[schemas.GroupOut], **_REFUSED}, summary="Group what is unsettled")
@_refusing
def list_groups(request: HttpRequest) -> Any:
    """Return equal failures as groups, the one that grew last first."""
    resolve_applied()
    return groups_of(DeadLetter.objects.all())


@router.post("/dry-run", response={200: schemas.PlanOut, **_REFUSED}, summary="Tell what a replay would do")
@_refusing
def plan_replay(request: HttpRequest, body: Annotated[schemas.SelectionIn, Body()]) -> Any:
    """Count the fates of the selected dead letters; nothing is changed."""
    demand(request, Right.REPLAY)
    plan = dry_run(body.selected())
    return {"fates": plan.as_dict(), "sentences": [text for _fate, text in plan.sentences()]}


@router.post("/replays", response={202: schemas.ReplayAccepted, **_REFUSED}, summary="Replay")
@_refusing
def start_replay(request: HttpRequest, body: Annotated[schemas.ReplayIn, Body()]) -> Any:
    """Send the selected open dead letters again. How far it is, is at `status_url`."""
    order = replay(body.selected(), actor=_actor(request), **body.model_dump(exclude={"selection"}))
    status_url = reverse(f"{_namespace(request)}:dead_letter_replay", args=[order.pk])
    return Answer(202, {"replay_id": order.pk, "dead_letter_count": order.dead_letter_count, "status_url": status_url})


@router.get(
    "/replays/{int:replay_id}",
    response={200: schemas.ReplayOut, **_REFUSED},
    url_name="dead_letter_replay",
    summary="See how far a replay is",
)
@_refusing
def read_replay(request: HttpRequest, replay_id: int) -> Any:
    """Return the counts of its dead letters by where they are."""
    resolve_applied()
    advance()
    order = Replay.objects.filter(pk=replay_id).first()
    if order is None:
        raise HttpError(404, f"Expected the number of a replay, got {replay_id}, which does not exist.")
    return schemas.ReplayOut.of(order, progress_of(order))


@router.post("/replays/{int:replay_id}/stop", response={200: schemas.Changed, **_REFUSED}, summary="Stop a replay")
@_refusing
def stop_replay(request: HttpRequest, replay_id: int, body: Annotated[schemas.WhyIn, Body()]) -> Any:
    """Send nothing more of it; what was not sent is open again."""
    return {"dead_letter_count": stop(replay_id, actor=_actor(request), why=body.why)}


@router.post("/replays/{int:replay_id}/release", response={200: schemas.Changed, **_REFUSED}, summary="Do not wait")
@_refusing
def release_replay(request: HttpRequest, replay_id: int, body: Annotated[schemas.WhyIn, Body()]) -> Any:
    """Send the rest without waiting for the canary."""
    return {"dead_letter_count": release(replay_id, actor=_actor(request), why=body.why)}


@router.post("/discard", response={200: schemas.Changed, **_REFUSED}, summary="Discard")
@_refusing
def discard_dead_letters(request: HttpRequest, body: Annotated[schemas.DecisionIn, Body()]) -> Any:
    """Settle the selected open dead letters without an effect. `why` is mandatory."""
    return {"dead_letter_count": discard(body.selected(), actor=_actor(request), why=body.why)}


@router.post("/restore", response={200: schemas.Changed, **_REFUSED}, summary="Restore")
@_refusing
def restore_dead_letters(request: HttpRequest, body: Annotated[schemas.DecisionIn, Body()]) -> Any:
    """Open the selected discarded dead letters again."""
    return {"dead_letter_count": restore(body.selected(), actor=_actor(request), why=body.why)}


@router.post("/redirect", response={200: schemas.Changed, **_REFUSED}, summary="Redirect to a renamed consumer")
@_refusing
def redirect_dead_letters(request: HttpRequest, body: Annotated[schemas.RedirectIn, Body()]) -> Any:
    """Give the selected open dead letters to another consumer of their event. `why` is mandatory."""
    return {"dead_letter_count": redirect(body.selected(), to=body.to, actor=_actor(request), why=body.why)}


@router.get(
    "/{int:dead_letter_id}", response={200: schemas.DeadLetterDetails, **_REFUSED}, summary="Read a dead letter"
)
@_refusing
def read_dead_letter(request: HttpRequest, dead_letter_id: int) -> Any:
    """Return all that is known of it."""
    resolve_applied()
    return _dead_letter(dead_letter_id)


@router.post(
    "/{int:dead_letter_id}/edit",
    response={200: schemas.EditOut, 202: schemas.EditOut, **_REFUSED},
    summary="Edit and replay",
)
@_refusing
def edit_dead_letter(request: HttpRequest, dead_letter_id: int, body: Annotated[schemas.EditIn, Body()]) -> Any:
    """Send an edited copy in its place; with `dry_run` only say what would differ. `why` is mandatory."""
    if body.dry_run:
        demand(request, Right.EDIT)
    edit = check_edit(_dead_letter(dead_letter_id), body.payload, version=body.version)
    changed = [vars(difference) for difference in edit.differences]
    if body.dry_run:
        return Answer(200, {"differences": changed, "copy_id": None})
    copy = edit_and_replay(dead_letter_id, body.payload, actor=_actor(request), why=body.why, version=body.version)
    return Answer(202, {"differences": changed, "copy_id": copy.pk})


def _namespace(request: HttpRequest) -> str:
    """Return what the project calls its API."""
    match = request.resolver_match
    return match.namespace if match else "api"


def _actor(request: HttpRequest) -> Actor:
    return Actor.of_request(request, via="api")


def _dead_letter(dead_letter_id: int) -> DeadLetter:
    dead_letter = DeadLetter.objects.filter(pk=dead_letter_id).first()
    if dead_letter is None:
        raise HttpError(404, f"Expected the number of a dead letter, got {dead_letter_id}, which does not exist.")
    return dead_letter
