"""/metrics: for Prometheus, which shows its token; and for staff, who want to see what Prometheus sees."""

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from baton_messaging.observability.prometheus.scrape import exposition

_UNAUTHORIZED = 401


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with the figures, to whoever may read them: they tell how much business is done, and where it hurts."""
    if not may_read(request):
        text = "Expected Authorization: Bearer and the METRICS_TOKEN, or a member of the staff who is logged in.\n"
        challenge = {"WWW-Authenticate": 'Bearer realm="metrics"'}
        return HttpResponse(text, status=_UNAUTHORIZED, content_type="text/plain", headers=challenge)
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def may_read(request: HttpRequest) -> bool:
    """Tell whether the token is right. Without one set, nobody but staff may read, and everybody in debug."""
    scheme, _blank, token = request.headers.get("Authorization", "").partition(" ")
    if settings.METRICS_TOKEN and scheme.lower() == "bearer":
        return secrets.compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())
    user = request.user
    return settings.DEBUG or (user.is_active and user.is_staff)
