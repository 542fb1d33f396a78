"""One log line per request, without what may be personal: no query string, no address, no browser."""

from django.http import HttpRequest
from django_structlog.middlewares import RequestMiddleware


class RequestLogMiddleware(RequestMiddleware):
    """django-structlog's middleware, naming a request by its method and path only."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Return what the line calls the request."""
        return f"{request.method} {request.path}"
