"""Replays: how far each is, and the two things one can do about one that is under way."""

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect as go_to
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from baton_messaging.audit.errors import NotPermitted, OperationRefused
from baton_messaging.dead_letters.operations.replay import advance, release, stop
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.models import Replay
from baton_messaging.models.dead_letter import State
from baton_messaging.ui.desk.pages import actor_of, page, refusal_page

PAGE_SIZE = 50


@dataclass(frozen=True)
class Progress:
    """How far the letters of a replay are."""

    resolved: int
    under_way: int
    held: int
    died: int

    @property
    def total(self) -> int:
        """Return how many letters there are."""
        return self.resolved + self.under_way + self.held + self.died

    @property
    def percent(self) -> int:
        """Return how many of a hundred are resolved."""
        return 100 * self.resolved // self.total if self.total else 100

    def is_over_for(self, order: Replay) -> bool:
        """Tell whether nothing more of the replay will happen by itself."""
        return not self.under_way and (not self.held or order.stopped_at is not None)


def progress_of(order: Replay) -> Progress:
    """Count the letters of a replay by where they are, in one query."""
    asked_for = Q(requested_at__isnull=False)
    counts = order.dead_letters.aggregate(
        resolved=Count("pk", filter=Q(state=State.RESOLVED)),
        under_way=Count("pk", filter=Q(state=State.REQUESTED)),
        held=Count("pk", filter=Q(state=State.OPEN) & ~asked_for),
        died=Count("pk", filter=Q(state=State.OPEN) & asked_for),
    )
    return Progress(**counts)


@require_safe
def replay_list(request: HttpRequest) -> HttpResponse:
    """Show all replays, the newest first."""
    replays = Paginator(Replay.objects.order_by("-pk"), PAGE_SIZE).get_page(request.GET.get("page"))
    return page(request, "replays.html", title=_("Replays"), tab="replays", replays=replays)


@require_safe
def replay_progress(request: HttpRequest, replay_id: int) -> HttpResponse:
    """Show how far a replay is; for htmx only the part that changes, and 286 when it changes no more."""
    resolve_applied()
    advance()
    order = Replay.objects.filter(pk=replay_id).first()
    if order is None:
        raise Http404
    progress = progress_of(order)
    is_over = progress.is_over_for(order)
    polled = bool(request.headers.get("HX-Request"))
    answer = page(
        request,
        "_progress.html" if polled else "progress.html",
        title=_("Replay %(number)d") % {"number": order.pk},
        tab="replays",
        order=order,
        progress=progress,
        is_over=is_over,
    )
    return HttpResponseStopPolling(answer.content) if polled and is_over else answer


@require_POST
def stop_replay(request: HttpRequest, replay_id: int) -> HttpResponse:
    """Stop it; what was not sent is open again."""
    try:
        count = stop(replay_id, actor=actor_of(request))
    except OperationRefused as refusal:
        return _refused(request, refusal)
    text = ngettext("Stopped: %(count)d is open again.", "Stopped: %(count)d are open again.", count)
    messages.success(request, text % {"count": count})
    return go_to("admin:baton_messaging_deadletter_replay_progress", replay_id)


@require_POST
def release_replay(request: HttpRequest, replay_id: int) -> HttpResponse:
    """Send the rest without waiting for the canary."""
    try:
        release(replay_id, actor=actor_of(request))
    except OperationRefused as refusal:
        return _refused(request, refusal)
    return go_to("admin:baton_messaging_deadletter_replay_progress", replay_id)


def _refused(request: HttpRequest, refusal: OperationRefused) -> HttpResponse:
    return refusal_page(request, refusal, title=_("Replay"), status=403 if isinstance(refusal, NotPermitted) else 409)
