"""The body limit refuses a body announced as too large (413), or with no length (411), before it is read.

Django itself answers 400 to the first, and in debug with a page of internals; of the second it sees an empty body,
which would be refused as if a field were missing. The body stays unread: the server throws it
away after the answer, so that a client which is still sending gets to read it (server_worker.py).
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.web.error_pages import content_too_large, length_required


class BodyLimitMiddleware:
    """Compares Content-Length with ``DATA_UPLOAD_MAX_MEMORY_SIZE``."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on, or answer 411 or 413."""
        if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
            return length_required(request)
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if limit is None or _announced_length(request) <= limit:
            return self.get_response(request)
        return content_too_large(request)


def _announced_length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
