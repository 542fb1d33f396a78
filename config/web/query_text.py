"""An address with a NUL in it is refused (400): no text of ours has one, and PostgreSQL refuses to look for it.

Every list of the admin hands its filters, and each of its pages the id in its path, to the database as they come. So
does an action with the ids of the rows that were picked: one that is no id is refused here, too (F76). In a path of the
API each id has its type, which names the field that is wrong (422). Whatever else is odd, Django replaces or its fields
refuse.
"""

from collections.abc import Callable

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db import DataError
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.web.error_pages import API_PREFIX, bad_request, unreadable_query

_NO_ID = (ValidationError, ValueError, OverflowError, DataError)
_NUL = ("%00", "\x00")  # "%2500" is a percent sign and two noughts


class QueryTextMiddleware:
    """Looks for NUL in the address of each request, and after an error at what was picked."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on, or answer 400."""
        query = request.META.get("QUERY_STRING", "")
        path = "" if request.path_info.startswith(API_PREFIX) else request.path_info
        is_odd = "\x00" in path or any(nul in query for nul in _NUL)
        return unreadable_query(request) if is_odd else self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """Answer 400 where an action of the admin was sent with something that is no id."""
        is_of_action = request.method == "POST" and ACTION_CHECKBOX_NAME in request.POST
        if is_of_action and isinstance(error, _NO_ID):
            return bad_request(request, error)
        return None
