"""What a visitor sees when something is refused or breaks: a page with a way on, or JSON below /api/."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

API_PREFIX = "/api/"


def length_required(request: HttpRequest) -> HttpResponse:
    """Answer 411. No browser gets here: forms are sent with their length."""
    detail = "Expected a Content-Length header, got a body of unannounced length (chunked)."
    return JsonResponse({"detail": detail, "errors": []}, status=411)


def content_too_large(request: HttpRequest) -> HttpResponse:
    """Answer 413."""
    return _answer(request, 413, "The body is too large.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400 (``handler400``)."""
    return _answer(request, 400, "The request cannot be read.")


def unreadable_query(request: HttpRequest) -> HttpResponse:
    """Answer 400 to an address that no link of ours has."""
    advice = _("Please take the character NUL (%00) out of the address: no text of ours has it.")
    return _answer(request, 400, "Expected an address without NUL (%00), got one with it.", advice=advice)


def misconfigured_proxy(request: HttpRequest, detail: str) -> HttpResponse:
    """Answer 400 to what a proxy should have sent otherwise. The sentence is for whoever sets it up."""
    return HttpResponse(f"{detail} See docs/security.md, Proxies.\n", status=400, content_type="text/plain")


def too_many_logins(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    """Answer 429 to whoever has guessed a password too often (``AXES_LOCKOUT_CALLABLE``)."""
    detail = "Too many wrong passwords for this account or from this address."
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    advice = _("Too many wrong passwords for this account or from this address. Please wait for %(minutes)d minutes.")
    return too_many(request, detail, advice=advice % {"minutes": seconds // 60}, seconds=seconds)


def too_many(request: HttpRequest, detail: str, *, advice: str, seconds: int) -> HttpResponse:
    """Answer 429, and when to come again."""
    response = _answer(request, 429, detail, advice=advice)
    response["Retry-After"] = str(seconds)
    return response


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403 (``handler403``)."""
    return _answer(request, 403, "This is not for you.")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404 (``handler404``)."""
    return _answer(request, 404, "There is nothing at this address.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500 (``handler500``). Whatever broke may break here too, so it needs neither request nor database."""
    if request.path.startswith(API_PREFIX):
        return JsonResponse({"detail": "Something broke on our side.", "errors": []}, status=500)
    return render(None, "500.html", status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer 403 to a form without a valid token (``CSRF_FAILURE_VIEW``)."""
    return render(request, "403_csrf.html", status=403)


def _answer(request: HttpRequest, status: int, detail: str, **context: str) -> HttpResponse:
    if request.path.startswith(API_PREFIX):
        return JsonResponse({"detail": detail, "errors": []}, status=status)
    return render(request, f"{status}.html", context, status=status)
