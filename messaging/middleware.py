"""One correlation id from the web request to the last consumer.

Put ``correlate`` right behind django-structlog's RequestMiddleware, whose request id it takes.
"""

from collections.abc import Callable
from uuid import UUID

import structlog
from django.http import HttpRequest, HttpResponseBase
from uuid_utils.compat import uuid7

from messaging.context import correlation

HEADER = "X-Correlation-ID"


def correlate(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Let all that a request publishes carry the id of the request, and tell it to the client."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        request_id = structlog.contextvars.get_contextvars().get("request_id")
        correlation_id = UUID(request_id) if request_id else uuid7()
        with correlation(correlation_id):
            response = get_response(request)
        response[HEADER] = str(correlation_id)
        return response

    return middleware
