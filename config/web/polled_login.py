"""A page that polls by htmx goes to the login as a whole once its session is over.

htmx follows the redirect and would show the form to log in inside the page, in the place of the part that it polls.
Only GET: what somebody has typed and sends by htmx is not thrown away.
"""

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django_htmx.http import HttpResponseClientRefresh


class PolledLoginMiddleware:
    """Answers with a reload instead of a redirect to the login."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on, and look at the answer."""
        response = self._get_response(request)
        is_polled = request.method == "GET" and "HX-Request" in request.headers
        if is_polled and response.status_code == HTTPStatus.FOUND and _is_login(response.headers["Location"]):
            return HttpResponseClientRefresh()
        return response


def _is_login(address: str) -> bool:
    return urlsplit(address).path in {reverse("login"), reverse("admin:login")}
