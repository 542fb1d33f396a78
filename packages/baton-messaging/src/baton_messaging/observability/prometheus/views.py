"""/metrics: for Prometheus, which shows its token, and for staff. Needs the extra ``prometheus``, and says so."""

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

_UNAUTHORIZED = 401
_NOT_IMPLEMENTED = 501


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with the figures, to those who may read them: they tell how much business is done, and where it hurts."""
    if not may_read(request):
        text = "Expected Authorization: Bearer and the METRICS_TOKEN, or a member of the staff who is logged in.\n"
        challenge = {"WWW-Authenticate": 'Bearer realm="metrics"'}
        return HttpResponse(text, status=_UNAUTHORIZED, content_type="text/plain", headers=challenge)
    try:
        from baton_messaging.observability.prometheus import scrape  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        text = f"Install the extra `prometheus` of baton-messaging: {error.name} cannot be imported.\n"
        return HttpResponse(text, status=_NOT_IMPLEMENTED, content_type="text/plain")
    return HttpResponse(scrape.exposition(), content_type=scrape.CONTENT_TYPE)


def may_read(request: HttpRequest) -> bool:
    """Tell whether the token is right. Without one set, only staff may read, and everybody in debug."""
    scheme, _blank, token = request.headers.get("Authorization", "").partition(" ")
    wanted = getattr(settings, "METRICS_TOKEN", "")
    if wanted and scheme.lower() == "bearer":
        return secrets.compare_digest(token.strip().encode(), wanted.encode())
    user = getattr(request, "user", None)  # none where a project answers it before it asks for a session
    return settings.DEBUG or bool(user and user.is_active and user.is_staff)
