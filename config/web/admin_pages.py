"""The admin's pages, marked as such: they need another Content-Security-Policy than ours (content_security.py)."""

from typing import Any

from django.http import HttpRequest
from unfold.sites import UnfoldAdminSite

from config.web.admin_menu import ordered


class AdminSite(UnfoldAdminSite):
    """Unfold's, which every page in its frame asks for its context: the admin's own, desk, board and triage."""

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Mark the request, and return what the frame needs."""
        request.is_admin_page = True  # type: ignore[attr-defined]  # for the middleware
        context: dict[str, Any] = super().each_context(request)
        return context

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Order the start page as the menu: the project's apps, the machinery, accounts."""
        return ordered(super().get_app_list(request, app_label))
