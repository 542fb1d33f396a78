"""A request by plain HTTP is redirected to HTTPS, unless the proxy in front would bring it back by HTTP for ever.

Behind a proxy every request comes by HTTP; what the visitor used says X-Forwarded-Proto. Where that header is missing,
or is there and ignored (``PROXY_COUNT`` is 0), a redirect would be asked again the same way. The answer is a sentence
for whoever sets the proxy up.
"""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from config.web.error_pages import misconfigured_proxy


class EndlessRedirectMiddleware:
    """In front of Django's SecurityMiddleware: notices that its redirect would have no end."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on; instead of a redirect to HTTPS say what the proxy or PROXY_COUNT lacks."""
        response = self._get_response(request)
        if response.status_code != HTTPStatus.MOVED_PERMANENTLY or request.is_secure() or not _is_to_https(response):
            return response
        says = request.headers.get("X-Forwarded-Proto")
        if settings.PROXY_COUNT and says is None:
            return misconfigured_proxy(request, "Expected X-Forwarded-Proto from the proxy in front, got none.")
        if not settings.PROXY_COUNT and says == "https":
            return misconfigured_proxy(request, "Expected PROXY_COUNT to count the proxies in front, got 0.")
        return response


def _is_to_https(response: HttpResponseBase) -> bool:
    return response.headers.get("Location", "").startswith("https://")
