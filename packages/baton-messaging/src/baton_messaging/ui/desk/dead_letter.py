"""One dead letter: what is known of it, what each attempt said, where its order stands, and what was done about it."""

import json
from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from baton_messaging.dead_letters.operations.redirect import candidates
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.diagnosis.progress import progress_of
from baton_messaging.models import Attempt, AuditEntry, DeadLetter, Interruption, ProcessedMessage
from baton_messaging.models.dead_letter import RELAY, State
from baton_messaging.ui.desk.listing import query_of
from baton_messaging.ui.desk.pages import page

MAX_ROWS = 100  # of attempts or audit entries; nobody reads more, and the page stays small
STEP_STATES = {
    "waiting": _("waiting to be sent"),
    "queued": _("in the queue"),
    "retrying": _("will be tried again"),
    "done": _("done"),
    "dead": _("dead"),
}


@require_safe
def letter_page(request: HttpRequest, letter_id: int) -> HttpResponse:
    """Show a letter. A constant number of queries."""
    resolve_applied()
    letter = letter_or_404(letter_id)
    is_open = letter.state == State.OPEN
    return page(
        request,
        "letter.html",
        title=_("Dead letter %(number)d") % {"number": letter.pk},
        tab="letters",
        letter=letter,
        query=query_of(Selection(ids=(letter.pk,))),
        processed=_processed(letter),
        attempts=_attempts(letter),
        interruptions=_interruptions(letter),
        payload=pretty(letter.envelope["payload"]) if letter.envelope else "",
        envelope=pretty({name: value for name, value in (letter.envelope or {}).items() if name != "payload"}),
        timeline=[(STEP_STATES[step.state], step) for step in progress_of(letter.key)] if letter.key else (),
        audit=AuditEntry.objects.filter(dead_letters__dead_letter_id=letter.pk).order_by("-pk")[:MAX_ROWS],
        can_be_replayed=is_open and bool(letter.envelope or letter.raw),
        can_be_edited=is_open and bool(letter.envelope) and letter.consumer != RELAY,
        redirect_to=candidates(letter) if is_open and letter.envelope else [],
    )


def letter_or_404(letter_id: int) -> DeadLetter:
    """Return the letter with what it is linked to."""
    letter = DeadLetter.objects.select_related("replay", "copy_of", "edited_copy").filter(pk=letter_id).first()
    if letter is None:
        raise Http404
    return letter


def pretty(value: Any) -> str:
    """Return JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _processed(letter: DeadLetter) -> ProcessedMessage | None:
    if letter.message_id is None:
        return None
    return ProcessedMessage.objects.filter(message_id=letter.message_id, consumer=letter.consumer).first()


def _attempts(letter: DeadLetter) -> Iterable[Attempt]:
    if letter.message_id is None:
        return ()
    attempts = Attempt.objects.filter(message_id=letter.message_id, consumer=letter.consumer)
    return attempts.order_by("round", "attempt")[:MAX_ROWS]


def _interruptions(letter: DeadLetter) -> Iterable[Interruption]:
    return Interruption.objects.filter(task_id=letter.task_id).order_by("pk")[:MAX_ROWS] if letter.task_id else ()
