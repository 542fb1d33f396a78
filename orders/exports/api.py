"""The JSON API of exports: for people who are logged in, by their session, and have the right (orders.rights).

A POST needs the CSRF token of the session in the header X-CSRFToken, as any Django view with a session does.
"""

from typing import Annotated, cast
from uuid import UUID

import structlog
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from ninja import Body, Router
from ninja.errors import HttpError
from ninja.responses import Status as Answer
from ninja.security import django_auth

from orders.exports import services, wording
from orders.exports.download import download_response
from orders.exports.errors import ExportForbidden, ExportNotActive, ExportNotFound, ExportRefused, StorageFailed
from orders.exports.models import Export
from orders.exports.schemas import ExportAnswer, ExportIn, ExportOut, State
from orders.exports.states import Format
from orders.rights import Right, may
from orders.schemas import Problem

log = structlog.get_logger(__name__)

router = Router(tags=["exports"], auth=django_auth)

_UNREADABLE = {400: Problem, 401: Problem, 403: Problem, 413: Problem, 415: Problem}


@router.post("", response={202: ExportAnswer, 422: Problem, 429: Problem, **_UNREADABLE}, summary="Ask for an export")
def request_export(
    request: HttpRequest, response: HttpResponse, body: Annotated[ExportIn, Body()]
) -> Answer[ExportAnswer]:
    """Accept an export of orders. How far it got is at `status_url`. 429: too many are waiting or running already."""
    try:
        export = services.request_export(
            user=_person(request),
            file_format=Format(body.format),
            selection=body.to_selection(),
            language="ja" if get_language() == "ja" else "en",
        )
    except ExportForbidden as refusal:
        raise HttpError(403, str(refusal)) from refusal
    except ExportRefused as refusal:
        raise HttpError(429, wording.refusal_sentence(refusal)) from refusal
    return _accepted(response, export)


@router.get(
    "/{export_id}",
    response={200: ExportOut, 403: Problem, 404: Problem},
    url_name="export",
    summary="See how far it got",
)
def read_export(request: HttpRequest, export_id: UUID) -> Answer[ExportOut]:
    """Return the state of an export. Poll until it is neither `queued` nor `running`."""
    export = _visible(request, export_id)
    return Answer(
        200,
        ExportOut(
            export_id=export.pk,
            state=cast("State", export.state),
            rows_done=export.rows_done,
            rows_total=export.rows_total,
            percent=export.percent,
            download_url=reverse("api:export_download", args=[export.pk]) if export.is_ready else None,
            error=wording.failure_sentence(export),
        ),
    )


@router.post(
    "/{export_id}/cancel",
    response={202: ExportAnswer, 403: Problem, 404: Problem, 409: Problem},
    summary="Cancel an export",
)
def cancel_export(request: HttpRequest, response: HttpResponse, export_id: UUID) -> Answer[ExportAnswer]:
    """Cancel an export that waits or runs. Cancelling twice is no error; one that is finished answers 409."""
    try:
        _demand(request)
        export = services.cancel_export(user=_person(request), export_id=export_id)
    except ExportNotFound as error:
        raise HttpError(404, str(error)) from error
    except ExportForbidden as error:
        raise HttpError(403, str(error)) from error
    except ExportNotActive as error:
        raise HttpError(409, str(error)) from error
    return _accepted(response, export)


@router.api_operation(
    ["GET", "HEAD"],
    "/{export_id}/download",
    response={403: Problem, 404: Problem, 503: Problem},
    url_name="export_download",
    summary="Download",
)
def download(request: HttpRequest, export_id: UUID) -> HttpResponseBase:
    """Return the file of an export that is ready; parts of it by the header `Range`. 503: try again later."""
    export = _visible(request, export_id)
    if not export.is_ready:
        raise HttpError(404, f"Expected an export that is ready; export {export_id} is {export.state}.")
    try:
        return download_response(request, export)
    except StorageFailed as error:
        log.exception("export_storage_failed", export_id=str(export_id))
        raise HttpError(503, _("The storage of the files does not answer. Please try again later.")) from error


def _person(request: HttpRequest) -> AbstractBaseUser:
    if not isinstance(request.user, AbstractBaseUser):
        raise HttpError(401, "Expected somebody who is logged in.")  # django_auth has seen to that
    return request.user


def _demand(request: HttpRequest) -> None:
    """Refuse whoever has nothing to do with exports; others are told of each one whether it is theirs to see."""
    if not may(request.user, Right.ASK_FOR_EXPORT, Right.SEE_EXPORTS):
        raise HttpError(403, str(ExportForbidden(Right.ASK_FOR_EXPORT)))


def _visible(request: HttpRequest, export_id: UUID) -> Export:
    _demand(request)
    try:
        return services.visible_export(request.user, export_id)
    except ExportNotFound as error:
        raise HttpError(404, str(error)) from error


def _accepted(response: HttpResponse, export: Export) -> Answer[ExportAnswer]:
    answer = ExportAnswer(export_id=export.pk, status_url=reverse("api:export", args=[export.pk]))
    response["Location"] = answer.status_url
    return Answer(202, answer)
