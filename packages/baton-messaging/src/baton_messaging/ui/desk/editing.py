"""Edit the payload of one letter: check it against the event's schema, look at the difference, send the copy."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect as go_to
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from baton_messaging.audit.errors import NotPermitted, OperationRefused
from baton_messaging.dead_letters.operations.edit import check_edit, edit_and_replay
from baton_messaging.dead_letters.operations.errors import NotEditable
from baton_messaging.events import known_versions
from baton_messaging.models import DeadLetter
from baton_messaging.models.audit import Action
from baton_messaging.ui.desk.dead_letter import letter_or_404
from baton_messaging.ui.desk.forms import EditForm
from baton_messaging.ui.desk.pages import actor_of, demand, page, refusal_page

TITLE = _("Edit and replay")


@require_http_methods(["GET", "POST"])
def edit_page(request: HttpRequest, letter_id: int) -> HttpResponse:
    """Show the form; with ``check`` the difference; else send the copy and go to its page."""
    letter = letter_or_404(letter_id)
    form = _form(letter, request.POST if request.method == "POST" else None)
    if request.method == "GET":
        demand(request, Action.EDIT)
        return _page(request, letter, form)
    if "check" in request.POST:
        demand(request, Action.EDIT)
        return _checked(request, letter, form)
    if not form.is_valid():
        return _page(request, letter, form, status=422)
    try:
        copy = edit_and_replay(letter.pk, actor=actor_of(request), **form.cleaned_data)
    except (NotPermitted, NotEditable) as refusal:
        return refusal_page(request, refusal, title=TITLE, status=403 if isinstance(refusal, NotPermitted) else 409)
    except OperationRefused as refusal:
        return _page(request, letter, form, status=422, refusal=refusal)
    return go_to("admin:baton_messaging_deadletter_change", copy.pk)


def _form(letter: DeadLetter, data: Any) -> EditForm:
    envelope = letter.envelope or {}
    versions = known_versions(letter.event_name) or [int(envelope.get("version", 1))]
    version = envelope.get("version") if envelope.get("version") in versions else versions[-1]
    return EditForm(data, versions=versions, initial={"payload": envelope.get("payload"), "version": version})


def _checked(request: HttpRequest, letter: DeadLetter, form: EditForm) -> HttpResponse:
    """Show what the copy would be. The reason is not asked for yet."""
    form.fields["why"].required = False
    template = "_difference.html" if request.headers.get("HX-Request") else "edit.html"
    if not form.is_valid():
        return _page(request, letter, form, template=template)
    try:
        edit = check_edit(letter, form.cleaned_data["payload"], version=form.cleaned_data["version"])
    except OperationRefused as refusal:
        return _page(request, letter, form, template=template, refusal=refusal)
    return _page(request, letter, form, template=template, edit=edit)


def _page(
    request: HttpRequest, letter: DeadLetter, form: EditForm, *, template: str = "edit.html", **context: Any
) -> HttpResponse:
    return page(request, template, title=TITLE, tab="letters", letter=letter, form=form, **context)
