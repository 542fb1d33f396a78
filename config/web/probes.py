"""Probes of a platform are answered whatever Host they name, by plain HTTP too: they do not come through the proxy.

In front of all that refuses such a request, or sends it to HTTPS; behind the log, which has a line of each.
"""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.urls import resolve

PROBES: Final = frozenset({"/healthz", "/readyz"})
METRICS: Final = "/metrics"  # for Prometheus, which shows its token; staff comes as to any other page


class ProbeMiddleware:
    """Answers what tells nothing but whether this process works, and figures to whoever brings their token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a probe; pass anything else on."""
        is_scrape = request.path_info == METRICS and "Authorization" in request.headers
        if request.path_info not in PROBES and not is_scrape:
            return self._get_response(request)
        answer: HttpResponseBase = resolve(request.path_info).func(request)
        return answer
