"""A dead letter's pages: what is known of it and was done about it; and its payload, to edit and send as a copy."""

import json
from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect as go_to
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from baton_messaging.audit.errors import NotPermitted, OperationRefused
from baton_messaging.dead_letters.operations.edit import check_edit, edit_and_replay
from baton_messaging.dead_letters.operations.errors import NotEditable
from baton_messaging.dead_letters.operations.redirect import candidates
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.diagnosis.dead_letters import cause_now, owner_under
from baton_messaging.diagnosis.progress import STATE_TEXTS, progress_of
from baton_messaging.events import known_versions
from baton_messaging.models import Attempt, AuditEntry, DeadLetter, Interruption, ProcessedMessage
from baton_messaging.models.audit import Action
from baton_messaging.models.dead_letter import RELAY, State
from baton_messaging.ui.desk.forms import EditForm
from baton_messaging.ui.desk.lists import query_of
from baton_messaging.ui.desk.pages import actor_of, demand, page, refusal_page, refuse_unpermitted

MAX_ROWS = 100  # of attempts or audit entries; nobody reads more, and the page stays small


@require_safe
def dead_letter_page(request: HttpRequest, dead_letter_id: int) -> HttpResponse:
    """Show a dead letter. A constant number of queries."""
    resolve_applied()
    dead_letter = dead_letter_or_404(dead_letter_id)
    is_open = dead_letter.state == State.OPEN
    cause = cause_now(dead_letter) if is_open else None
    return page(
        request,
        "dead_letter.html",
        title=_("Dead letter %(number)d") % {"number": dead_letter.pk},
        tab="letters",
        dead_letter=dead_letter,
        query=query_of(Selection(ids=(dead_letter.pk,))),
        cause=cause,
        owner=owner_under(cause, dead_letter.owner),
        processed=_processed(dead_letter),
        attempts=_attempts(dead_letter),
        interruptions=_interruptions(dead_letter),
        payload=pretty(dead_letter.envelope["payload"]) if dead_letter.envelope else "",
        envelope=pretty({name: value for name, value in (dead_letter.envelope or {}).items() if name != "payload"}),
        timeline=[(STATE_TEXTS[step.state], step) for step in progress_of(dead_letter.key)] if dead_letter.key else (),
        audit=AuditEntry.objects.filter(dead_letters__dead_letter_id=dead_letter.pk).order_by("-pk")[:MAX_ROWS],
        can_be_replayed=is_open and bool(dead_letter.envelope or dead_letter.raw),
        can_be_edited=is_open and bool(dead_letter.envelope) and dead_letter.consumer != RELAY,
        redirect_to=candidates(dead_letter) if is_open and dead_letter.envelope else [],
    )


def dead_letter_or_404(dead_letter_id: int) -> DeadLetter:
    """Return the dead letter with what it is linked to."""
    dead_letter = (
        DeadLetter.objects.select_related("replay", "copy_of", "edited_copy").filter(pk=dead_letter_id).first()
    )
    if dead_letter is None:
        raise Http404
    return dead_letter


def pretty(value: Any) -> str:
    """Return JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _processed(dead_letter: DeadLetter) -> ProcessedMessage | None:
    if dead_letter.message_id is None:
        return None
    return ProcessedMessage.objects.filter(message_id=dead_letter.message_id, consumer=dead_letter.consumer).first()


def _attempts(dead_letter: DeadLetter) -> Iterable[Attempt]:
    if dead_letter.message_id is None:
        return ()
    attempts = Attempt.objects.filter(message_id=dead_letter.message_id, consumer=dead_letter.consumer)
    return attempts.order_by("round", "attempt")[:MAX_ROWS]


def _interruptions(dead_letter: DeadLetter) -> Iterable[Interruption]:
    return (
        Interruption.objects.filter(task_id=dead_letter.task_id).order_by("pk")[:MAX_ROWS]
        if dead_letter.task_id
        else ()
    )


TITLE = _("Edit and replay")


@require_http_methods(["GET", "POST"])
def edit_page(request: HttpRequest, dead_letter_id: int) -> HttpResponse:
    """Show the form; with ``check`` the difference; else send the copy and go to its page."""
    dead_letter = dead_letter_or_404(dead_letter_id)
    form = _form(dead_letter, request.POST if request.method == "POST" else None)
    if request.method == "GET":
        demand(request, Action.EDIT)
        return _page(request, dead_letter, form)
    if "check" in request.POST:
        demand(request, Action.EDIT)
        return _checked(request, dead_letter, form)
    try:
        refuse_unpermitted(request, Action.EDIT)
        if not form.is_valid():
            return _page(request, dead_letter, form, status=422)
        copy = edit_and_replay(dead_letter.pk, actor=actor_of(request), **form.cleaned_data)
    except (NotPermitted, NotEditable) as refusal:
        return refusal_page(request, refusal, title=TITLE, status=403 if isinstance(refusal, NotPermitted) else 409)
    except OperationRefused as refusal:
        return _page(request, dead_letter, form, status=422, refusal=refusal)
    return go_to("admin:baton_messaging_deadletter_change", copy.pk)


def _form(dead_letter: DeadLetter, data: Any) -> EditForm:
    envelope = dead_letter.envelope or {}
    versions = known_versions(dead_letter.event_name) or [int(envelope.get("version", 1))]
    version = envelope.get("version") if envelope.get("version") in versions else versions[-1]
    return EditForm(data, versions=versions, initial={"payload": envelope.get("payload"), "version": version})


def _checked(request: HttpRequest, dead_letter: DeadLetter, form: EditForm) -> HttpResponse:
    """Show what the copy would be. The reason is not asked for yet."""
    form.fields["why"].required = False
    template = "_difference.html" if request.headers.get("HX-Request") else "edit.html"
    if not form.is_valid():
        return _page(request, dead_letter, form, template=template)
    try:
        edit = check_edit(dead_letter, form.cleaned_data["payload"], version=form.cleaned_data["version"])
    except OperationRefused as refusal:
        return _page(request, dead_letter, form, template=template, refusal=refusal)
    return _page(request, dead_letter, form, template=template, edit=edit)


def _page(
    request: HttpRequest, dead_letter: DeadLetter, form: EditForm, *, template: str = "edit.html", **context: Any
) -> HttpResponse:
    return page(request, template, title=TITLE, tab="letters", dead_letter=dead_letter, form=form, **context)
