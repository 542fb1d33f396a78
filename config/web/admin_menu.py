"""The admin's menu: what people look for at night first, then the tables of each app."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

Group = dict[str, Any]


def menu(request: HttpRequest) -> list[Group]:
    """Return the groups of links that this person may follow."""
    if not admin.site.has_permission(request):
        return []
    tools = [
        {"title": _("Board"), "icon": "monitoring", "link": reverse("board")},
        {"title": _("Doctor"), "icon": "stethoscope", "link": reverse("doctor")},
        {"title": _("What is stuck"), "icon": "troubleshoot", "link": reverse("triage")},
    ]
    may_see = request.user.has_perm("baton_messaging.view_deadletter")  # what board and triage ask for
    return [*([{"items": tools}] if may_see else []), *(_group(app) for app in admin.site.get_app_list(request))]


def _group(app: dict[str, Any]) -> Group:
    links = [{"title": model["name"], "link": model["admin_url"]} for model in app["models"] if model["admin_url"]]
    return {"title": app["name"], "separator": True, "items": links}
