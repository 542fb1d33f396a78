"""No browser and no proxy keeps an answer, unless its view says otherwise.

Pages and JSON depend on the user, and a computer may be shared: after the logout, Back shows nothing. Static files are
answered before, and say how long they may be kept.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase


class PrivateAnswersMiddleware:
    """Adds ``Cache-Control: private, no-store`` where there is none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on, and look at the answer."""
        response = self._get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response
