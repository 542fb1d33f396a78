"""A query text with a NUL in it is refused (400): no text of ours has one, and PostgreSQL refuses to look for it.

Every list of the admin hands its filters to the database as they come. Whatever else is odd in a query string, Django
replaces or its fields refuse.
"""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.web.error_pages import unreadable_query

_NUL = ("%00", "\x00")  # "%2500" is a percent sign and two noughts


class QueryTextMiddleware:
    """Looks for NUL in the query string of each request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on, or answer 400."""
        query = request.META.get("QUERY_STRING", "")
        return unreadable_query(request) if any(nul in query for nul in _NUL) else self.get_response(request)
