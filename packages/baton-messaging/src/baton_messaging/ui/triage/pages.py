"""The pages of triage: one id, live; and all that is stuck. For staff, within the admin's frame."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseStopPolling

from baton_messaging.audit.rights import Right
from baton_messaging.database.text import typed_id
from baton_messaging.diagnosis.links import dead_letter_link, has_path, triage_link
from baton_messaging.diagnosis.triage.gather.deadline import statement_deadline
from baton_messaging.diagnosis.triage.lookup import AmbiguousId, BadId, look_up
from baton_messaging.diagnosis.triage.report import Report, triage
from baton_messaging.diagnosis.triage.stuck import OLDER_THAN, Survey, survey_or_report
from baton_messaging.health.wording import duration
from baton_messaging.ui.frame import frame
from baton_messaging.ui.guard import needing

MULTIPLE_CHOICES, BAD_REQUEST = 300, 400
#: Seconds that a person may ask for.
AGES: Final = (60, 300, 3_600, 86_400, 604_800)


@require_safe
@needing(Right.SEE_TRIAGE)
def triage_page(request: HttpRequest, subject_id: str | UUID) -> HttpResponse:
    """Show the verdicts on one id; for htmx only these, and 286 when they change no more.

    A project mounts it for its own rows, too: ``path("orders/<uuid:subject_id>/triage/", staff_only(triage_page))``.
    """
    asked_id = str(subject_id)
    try:
        report = triage(asked_id)
    except AmbiguousId as several:
        return _choice(request, several, asked_id)
    except BadId as refusal:
        return _stuck_page(request, status=BAD_REQUEST, refusal=refusal, asked_id=asked_id)
    context: dict[str, Any] = {"report": report, "asked_id": asked_id}
    if not request.headers.get("HX-Request"):
        return _page(request, "report.html", title=_("Whose is it?"), **context)
    answer = render(request, "baton_messaging/triage/_verdicts.html", context)
    return HttpResponseStopPolling(answer.content) if report.is_over else answer


@require_safe
@needing(Right.SEE_TRIAGE)
def stuck_page(request: HttpRequest) -> HttpResponse:
    """Show what is not settled, by verdict and owner; with ``?id=`` go to that one."""
    wanted = request.GET.get("id", "").strip()
    if wanted:
        return _lead(request, wanted)
    if request.headers.get("HX-Request"):
        found = _survey(request)
        if isinstance(found, Report):
            return render(request, "baton_messaging/triage/_verdicts.html", {"report": found})
        return render(request, "baton_messaging/triage/_stuck.html", {"survey": _of_asked_owner(request, found)})
    return _stuck_page(request)


def _lead(request: HttpRequest, wanted: str) -> HttpResponse:
    """Go to the page of what was typed."""
    try:
        with statement_deadline():
            found = look_up(wanted)
    except AmbiguousId as several:
        return _choice(request, several, wanted)
    except BadId as refusal:
        return _stuck_page(request, status=BAD_REQUEST, refusal=refusal, asked_id=wanted)
    except OperationalError:
        return triage_page(request, wanted)  # which tells what does not answer
    subject_id = found.key if found.is_called or found.key == wanted else typed_id(wanted)
    return redirect("triage_of", subject_id) if has_path(subject_id) else triage_page(request, subject_id)


def _choice(request: HttpRequest, several: AmbiguousId, asked_id: str) -> HttpResponse:
    """Show all that is called so."""
    links = [
        (kind, key, dead_letter_link(int(key)) if key.isdecimal() else triage_link(key))
        for kind, key in several.candidates
    ]
    return _page(request, "choice.html", title=_("Which one?"), status=MULTIPLE_CHOICES, links=links, asked_id=asked_id)


def _survey(request: HttpRequest) -> Survey | Report:
    """Survey what is older than ``?older=`` seconds."""
    return survey_or_report(timedelta(seconds=_asked_seconds(request)))


def _asked_seconds(request: HttpRequest) -> int:
    asked = request.GET.get("older", "")
    return int(asked) if asked in {str(seconds) for seconds in AGES} else int(OLDER_THAN.total_seconds())


def _of_asked_owner(request: HttpRequest, survey: Survey) -> Survey:
    return survey.of_owner(request.GET.get("owner", ""))


def _stuck_page(request: HttpRequest, *, status: int = 200, **context: Any) -> HttpResponse:
    found, title = _survey(request), _("What is stuck")
    if isinstance(found, Report):
        return _page(request, "report.html", title=title, status=status, report=found, **context)
    context |= {
        "survey": _of_asked_owner(request, found),
        "owners": found.owners,
        "asked_owner": request.GET.get("owner", ""),
        "ages": [(seconds, duration(seconds)) for seconds in AGES],
        "asked_seconds": _asked_seconds(request),
    }
    return _page(request, "stuck.html", title=title, status=status, **context)


def _page(request: HttpRequest, template: str, *, title: str, status: int = 200, **context: Any) -> HttpResponse:
    return render(request, f"baton_messaging/triage/{template}", {**frame(request, title), **context}, status=status)
