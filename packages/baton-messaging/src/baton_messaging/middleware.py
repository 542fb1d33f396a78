"""A middleware gives each request its correlation id, which follows it to the last consumer.

Put ``"baton_messaging.middleware.correlate"`` into ``MIDDLEWARE``, right behind django-structlog's RequestMiddleware,
whose request id it takes. (With ``DJANGO_STRUCTLOG_TRUST_UPSTREAM_REQUEST_ID`` that is what a proxy has set as
``X-Request-ID``.) Without it, or when that id is no UUID, the
request gets a UUIDv7 of its own.
"""

from collections.abc import Callable
from uuid import UUID

import structlog
from django.http import HttpRequest, HttpResponseBase
from uuid_utils.compat import uuid7

from baton_messaging.messages.context import correlation
from baton_messaging.messages.tracing import request_span

__all__ = ["HEADER", "correlate"]

#: Of each answer: the id to search logs, traces and the desk by.
HEADER = "X-Correlation-ID"


def correlate(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Let all that a request publishes and logs carry the id of the request, and tell it to the client."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        correlation_id = _request_id()
        structlog.contextvars.bind_contextvars(correlation_id=str(correlation_id))
        traceparent = request.headers.get("traceparent", "")
        with correlation(correlation_id), request_span(request.method or "", request.path, traceparent=traceparent):
            response = get_response(request)
        response[HEADER] = str(correlation_id)
        return response

    return middleware


def _request_id() -> UUID:
    """Return the request's id, which a trusted proxy may have given it; if that is no UUID, a new one."""
    try:
        return UUID(structlog.contextvars.get_contextvars().get("request_id", ""))
    except ValueError:
        return uuid7()
