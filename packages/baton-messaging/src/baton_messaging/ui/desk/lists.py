"""Lists of the desk: groups of equal failures, dead letters to search and tick, and the audit."""

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import Count, Min, Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from baton_messaging.dead_letters.operations.errors import BadSelection
from baton_messaging.dead_letters.operations.groups import groups_of
from baton_messaging.dead_letters.operations.replay import advance
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.diagnosis.dead_letters import explained, with_owners
from baton_messaging.models import AuditEntry, DeadLetter, Replay
from baton_messaging.models.dead_letter import Reason, State
from baton_messaging.ui.desk.forms import SearchForm
from baton_messaging.ui.desk.pages import page

PAGE_SIZE = 50
FILTERS = frozenset({"reason", "consumer", "since", "until"})
MAX_NAMED = 10  # numbers of dead letters that a page names
_NAMES = {
    "consumer": _("Consumer"),
    "owner": _("Owner"),
    "text": _("Search"),
    "since": _("Died from (UTC)"),
    "until": _("Died before (UTC)"),
}
_IGNORED = frozenset({"page", "csrfmiddlewaretoken"})


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show the groups of unsettled dead letters; what took effect since the last look is settled first."""
    resolve_applied()
    advance()
    counts = DeadLetter.objects.unsettled().aggregate(
        open=Count("pk", filter=Q(state=State.OPEN)),
        requested=Count("pk", filter=Q(state=State.REQUESTED)),
        oldest=Min("died_at", filter=Q(state=State.OPEN)),
    )
    return page(
        request,
        "_groups.html" if request.headers.get("HX-Request") else "overview.html",
        title=_("Dead letters"),
        tab="groups",
        counts=counts,
        groups=explained(groups_of(DeadLetter.objects.all())),
        watching=Replay.objects.watching().order_by("-pk")[:10],
        form=SearchForm(),
    )


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """Show the dead letters of a selection, the newest first."""
    resolve_applied()
    refusal = None
    try:
        selection = selection_of(request.GET)
    except BadSelection as error:
        selection, refusal = Selection(), error
    # A page of the list needs neither traceback nor envelope, which are most of a row.
    dead_letters = selection.dead_letters().defer("traceback", "envelope", "raw").order_by("-died_at", "-pk")
    dead_letters = dead_letters.none() if refusal else dead_letters
    found = Paginator(dead_letters, PAGE_SIZE).get_page(request.GET.get("page"))
    return page(
        request,
        "listing.html",
        title=_("Dead letters"),
        tab="letters",
        status=400 if refusal else 200,
        form=SearchForm(initial=selection.as_dict()),
        selection=selection,
        words=in_words(selection),
        query=query_of(selection),
        dead_letters=found,
        rows=with_owners(found),
        refusal=refusal,
        is_filtered=bool(selection.as_dict().keys() & FILTERS),
    )


def selection_of(values: QueryDict) -> Selection:
    """Read the selection of a query string; ticked dead letters come as several ``ids``. Raises BadSelection.

    When some are ticked, they are meant, whatever else the list was filtered by.
    """
    ticked = [part for part in values.getlist("ids") if part]
    if ticked:
        return Selection.of({"ids": ",".join(ticked)})
    return Selection.of({name: value for name, value in values.items() if name not in _IGNORED})


def in_words(selection: Selection) -> list[str]:
    """Say what a selection means, for people: no hash of a group, no list of hundreds of numbers."""
    return [text for text in (_named(name, value) for name, value in selection.as_dict().items()) if text]


def _named(name: str, value: Any) -> str:
    match name:
        case "ids":
            shown = ", ".join(str(number) for number in value[:MAX_NAMED])
            return gettext("dead letters %(numbers)s") % {"numbers": shown + (" …" if len(value) > MAX_NAMED else "")}
        case "group":
            return _group_in_words(str(value))
        case "replay":
            return gettext("of replay %(number)s") % {"number": value}
        case "state":
            return str(State(value).label)
        case "reason":
            return str(Reason(value).label)
        case _:
            return f"{_NAMES[name]}: {value}"


def _group_in_words(fingerprint: str) -> str:
    one = Selection(group=fingerprint).dead_letters().only("consumer", "reason", "error_class").first()
    if one is None:
        return gettext("a group without dead letters")
    error = one.error_class or one.get_reason_display()
    return gettext("the group of %(error)s in %(consumer)s") % {"error": error, "consumer": one.consumer}


def query_of(selection: Selection) -> str:
    """Return the query string of a selection."""
    values = selection.as_dict()
    if selection.ids:
        values["ids"] = ",".join(str(number) for number in selection.ids)
    return urlencode(values)


@require_safe
def audit_list(request: HttpRequest) -> HttpResponse:
    """Show all operations, the newest first; ``?actor=`` shows one person's."""
    entries = AuditEntry.objects.order_by("-pk")
    actor = request.GET.get("actor", "")[:200]
    if actor:
        entries = entries.filter(actor=actor)
    found = Paginator(entries, PAGE_SIZE).get_page(request.GET.get("page"))
    return page(request, "audit.html", title=_("Audit of the dead letters"), tab="audit", entries=found, actor=actor)
