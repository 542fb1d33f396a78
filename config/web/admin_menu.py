"""The admin's menu: what people look for at night first, then the project's own tables, then the machinery's."""

from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

Group = dict[str, Any]

#: Apps whose tables come last, in this order, and the name of their group. All others are the project's own.
_LAST: Final = {
    "baton_messaging": "messages",
    "django_celery_results": "messages",
    "auth": "accounts",
    "axes": "accounts",
}
#: Tables of the package that are tools, and stand above, with their icons.
_TOOLS: Final = {"DeadLetter": "mail_off", "Pause": "pause_circle", "Circuit": "electrical_services"}


def menu(request: HttpRequest) -> list[Group]:
    """Return the groups of links that this person may follow."""
    if not admin.site.has_permission(request):
        return []
    apps = ordered(admin.site.get_app_list(request))
    titles = {"messages": _("Messages"), "accounts": _("Accounts")}
    groups: dict[str, list[dict[str, str]]] = {}
    for app in apps:
        title = titles.get(_LAST.get(app["app_label"], ""), app["name"])
        groups.setdefault(str(title), []).extend(_links(app, are_tools=False))
    operate = [*_tools(request), *(link for app in apps for link in _links(app, are_tools=True))]
    named = [{"title": title, "separator": True, "items": links} for title, links in groups.items() if links]
    return [*([{"title": _("Operate"), "items": operate}] if operate else []), *named]


def ordered(apps: list[Any]) -> list[Any]:
    """Put the project's own apps first; the rest as the menu has it."""
    last = list(_LAST)
    return sorted(apps, key=lambda app: last.index(app["app_label"]) if app["app_label"] in _LAST else -1)


def _tools(request: HttpRequest) -> list[dict[str, str]]:
    if not request.user.has_perm("baton_messaging.view_deadletter"):  # what board, doctor and triage ask for
        return []
    return [
        {"title": _("Board"), "icon": "monitoring", "link": reverse("board")},
        {"title": _("Doctor"), "icon": "stethoscope", "link": reverse("doctor")},
        {"title": _("What is stuck"), "icon": "troubleshoot", "link": reverse("triage")},
    ]


def _links(app: dict[str, Any], *, are_tools: bool) -> list[dict[str, str]]:
    """Return the tables of an app: the package's tools, or all others."""
    names = _TOOLS if app["app_label"] == "baton_messaging" else {}
    return [
        {"title": str(model["name"]), "link": model["admin_url"], "icon": names.get(model["object_name"], "")}
        for model in app["models"]
        if model["admin_url"] and (model["object_name"] in names) is are_tools
    ]
