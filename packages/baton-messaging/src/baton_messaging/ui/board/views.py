"""/ops/: the board, for staff. The page asks for its live part every few seconds, for the charts once a minute."""

from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from baton_messaging.audit.rights import Right
from baton_messaging.diagnosis.problems import problems
from baton_messaging.models import Recovery
from baton_messaging.models.statistics import Rollup
from baton_messaging.ui.board.charts import HEIGHT, WIDTH, charts
from baton_messaging.ui.board.picture import picture
from baton_messaging.ui.frame import frame
from baton_messaging.ui.guard import needing

RECENT: Final = timedelta(days=1)


@require_safe
@never_cache
@needing(Right.SEE_BOARD)
def board(request: HttpRequest) -> HttpResponse:
    """Show the pipeline; with ``?part=live`` or ``?part=charts`` only that part, for the page that is open."""
    part = request.GET.get("part")
    if part == "live":
        return render(request, "baton_messaging/board/_live.html", _live())
    if part == "charts":
        return render(request, "baton_messaging/board/_charts.html", _charts())
    whole = {**frame(request, _("Board")), "flower_url": getattr(settings, "FLOWER_URL", ""), **_live()}
    return render(request, "baton_messaging/board/board.html", whole)


def _live() -> dict[str, Any]:
    now, age_seconds = timezone.now(), Rollup.objects.age_seconds()
    counted_at = None if age_seconds is None else now - timedelta(seconds=age_seconds)
    return {"problems": problems(), "picture": picture(), "now": now, "counted_at": counted_at}


def _charts() -> dict[str, Any]:
    now = timezone.now()
    recoveries = Recovery.objects.filter(recovered_at__gte=now - RECENT).order_by("-recovered_at")
    return {
        "charts": charts(now),
        "width": WIDTH,
        "height": HEIGHT,
        "recoveries": recoveries,
    }
