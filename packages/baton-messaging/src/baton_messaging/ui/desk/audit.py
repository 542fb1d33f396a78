"""Who did what, when and why: for an auditor."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from baton_messaging.models import AuditEntry
from baton_messaging.ui.desk.pages import page

PAGE_SIZE = 50


@require_safe
def audit_list(request: HttpRequest) -> HttpResponse:
    """Show all operations, the newest first; ``?actor=`` shows one person's."""
    entries = AuditEntry.objects.order_by("-pk")
    actor = request.GET.get("actor", "")[:200]
    if actor:
        entries = entries.filter(actor=actor)
    found = Paginator(entries, PAGE_SIZE).get_page(request.GET.get("page"))
    return page(request, "audit.html", title=_("Audit of the dead letters"), tab="audit", entries=found, actor=actor)
