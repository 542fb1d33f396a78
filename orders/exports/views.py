"""The pages of exports: ask for one, watch it, have it. For those who have the right (orders.rights)."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from orders.exports import services, wording
from orders.exports.errors import ExportForbidden, ExportNotActive, ExportNotFound, ExportNotRepeatable, ExportRefused
from orders.exports.forms import ExportForm
from orders.exports.lease import database_now
from orders.exports.models import Export
from orders.exports.progress import Progress
from orders.exports.selection import Selection
from orders.exports.states import Format
from orders.rights import Right, may

SHOWN_EXPORTS = 30

View = Callable[..., HttpResponse]


def permitted(view: View) -> View:
    """Send strangers to the login; refuse whoever has nothing to do with exports (403)."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: UUID) -> HttpResponse:
        if not may(request.user, Right.ASK_FOR_EXPORT, Right.SEE_EXPORTS):
            raise PermissionDenied(str(ExportForbidden(Right.ASK_FOR_EXPORT)))
        try:
            return view(request, **kwargs)
        except ExportForbidden as refusal:
            raise PermissionDenied(str(refusal)) from refusal

    return guarded


@never_cache
@permitted
@require_http_methods(["GET", "HEAD", "POST"])
def exports(request: HttpRequest) -> HttpResponse:
    """Show the form and the exports so far; take a new one and go to its page at once."""
    form = ExportForm(request.POST or None)
    if request.method != "POST":
        return _page(request, form, status=200)
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        export = services.request_export(
            user=_person(request),
            file_format=Format(form.cleaned_data["format"]),
            selection=form.to_selection(),
            language="ja" if get_language() == "ja" else "en",
        )
    except ExportRefused as refusal:
        form.add_error(None, wording.refusal_sentence(refusal))
        return _page(request, form, status=429)
    return redirect(export)


@never_cache
@permitted
@require_safe
def export_list(request: HttpRequest) -> HttpResponse:
    """Return the list for htmx, until nothing in it moves."""
    context = _list_context(request)
    response = render(request, "orders/exports/_list.html", context)
    return response if context["is_moving"] else HttpResponseStopPolling(response.content)


@never_cache
@permitted
@require_safe
def export_page(request: HttpRequest, export_id: UUID) -> HttpResponse:
    """Show one export."""
    export = Export.objects.visible_to(request.user).select_related("requested_by").filter(pk=export_id).first()
    if export is None:
        return render(request, "404.html", status=404)
    return render(request, "orders/exports/export.html", _context(request, export))


@never_cache
@permitted
@require_safe
def export_progress(request: HttpRequest, export_id: UUID) -> HttpResponse:
    """Return the picture for htmx; with 286 the last one, to end polling."""
    export = Export.objects.visible_to(request.user).filter(pk=export_id).first()
    if export is None:
        raise Http404
    response = render(request, "orders/exports/_progress.html", {**_context(request, export), "polled": True})
    return response if export.is_active else HttpResponseStopPolling(response.content)


@permitted
@require_POST
def cancel(request: HttpRequest, export_id: UUID) -> HttpResponse:
    """Cancel and go back to the export's page, which says what came of it."""
    try:
        export = services.cancel_export(user=_person(request), export_id=export_id)
    except ExportNotFound as error:
        raise Http404 from error
    except ExportNotActive:
        messages.error(request, _("This export is finished already, so it cannot be cancelled any more."))
        return redirect("exports:export", export_id)
    return redirect(export)


@permitted
@require_POST
def repeat(request: HttpRequest, export_id: UUID) -> HttpResponse:
    """Ask for the same again and go to the page of the new export."""
    try:
        export = services.repeat_export(user=_person(request), export_id=export_id)
    except ExportNotFound as error:
        raise Http404 from error
    except ExportNotRepeatable:
        return redirect("exports:export", export_id)  # somebody pressed twice, or it has come alive meanwhile
    except ExportRefused as refusal:
        messages.error(request, wording.refusal_sentence(refusal))
        return redirect("exports:export", export_id)
    return redirect(export)


def _page(request: HttpRequest, form: ExportForm, *, status: int) -> HttpResponse:
    context = {"form": form, "can_ask": may(request.user, Right.ASK_FOR_EXPORT), **_list_context(request)}
    return render(request, "orders/exports/exports.html", context, status=status)


def _list_context(request: HttpRequest) -> dict[str, Any]:
    exports, before = Export.objects.visible_to(request.user).select_related("requested_by"), _before(request)
    if before:
        exports = exports.filter(pk__lt=before)
    shown = list(exports[: SHOWN_EXPORTS + 1])
    older_than = shown[SHOWN_EXPORTS - 1].pk if len(shown) > SHOWN_EXPORTS else None
    shown = shown[:SHOWN_EXPORTS]
    is_moving = any(export.is_active for export in shown)
    described = [(export, wording.contents(Selection.model_validate(export.selection))) for export in shown]
    return {"exports": described, "is_moving": is_moving, "before": before, "older_than": older_than}


def _before(request: HttpRequest) -> UUID | None:
    """Return the export before which this page of the list begins; None for the newest, and for what is no id."""
    try:
        return UUID(request.GET.get("before", ""))
    except ValueError:
        return None


def _context(request: HttpRequest, export: Export) -> dict[str, Any]:
    return {
        "export": export,
        "progress": Progress(export, database_now()),
        "contents": wording.contents(Selection.model_validate(export.selection)),
        "can_ask": may(request.user, Right.ASK_FOR_EXPORT),
        "can_cancel": export.requested_by_id == request.user.pk or may(request.user, Right.CANCEL_EXPORT),
    }


def _person(request: HttpRequest) -> AbstractBaseUser:
    if not isinstance(request.user, AbstractBaseUser):
        raise Http404  # login_required has seen to that
    return request.user
