"""The first page: what died, as groups."""

from django.db.models import Count, Min, Q
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from baton_messaging.dead_letters.operations.groups import groups_of
from baton_messaging.dead_letters.operations.replay import advance
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.models import DeadLetter, Replay
from baton_messaging.models.dead_letter import State
from baton_messaging.ui.desk.forms import SearchForm
from baton_messaging.ui.desk.pages import page


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show the groups of unsettled letters; what took effect since the last look is settled first."""
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
        groups=groups_of(DeadLetter.objects.all()),
        watching=Replay.objects.watching().order_by("-pk")[:10],
        form=SearchForm(),
    )
