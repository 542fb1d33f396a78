"""Pages of replays: the list, how far each is, and to stop or release one that is under way."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect as go_to
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from baton_messaging.audit.errors import NotPermitted, OperationRefused
from baton_messaging.dead_letters.operations.replay import advance, release, stop
from baton_messaging.dead_letters.operations.replay_progress import progress_of
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.models import Replay
from baton_messaging.ui.desk.pages import actor_of, page, refusal_page

PAGE_SIZE = 50


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
