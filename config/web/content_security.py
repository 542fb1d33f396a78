"""The Content-Security-Policy lets a browser run and load what this site serves as files, and nothing that is inline.

Pages of our own get the strict one. Those in the admin's frame may evaluate (Alpine reads its expressions out of
attributes), and may have Unfold's own style sheets, each by its hash: those in the head, and the theme's colours, the
first thing in the body. Nothing a visitor has written stands before them but the title, which is escaped.

The error pages of debug have none, as with Django's own middleware (django.middleware.csp, from Django 6 on; the
project runs on 5.2, too): their scripts and styles are inline, and a deployment has no such pages.

*Source*: Content Security Policy Level 3, W3C.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase

HEADER: Final = "Content-Security-Policy"
_STRICT: Final[dict[str, str]] = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
# What Unfold's htmx adds for its progress indicators; ours is told not to (templates/base.html).
_HTMX_STYLE: Final = "'sha256-bsV5JivYxvGywDAZ22EZJKBFip65Ng9xoJVLbBg7bdo='"
_HEAD: Final = re.compile(rb"<head\b.*?</head>", re.DOTALL | re.IGNORECASE)
_THEME: Final = re.compile(rb'<style id="unfold-theme-colors">(.*?)</style>', re.DOTALL)
_STYLE: Final = re.compile(rb"<style\b[^>]*>(.*?)</style>", re.DOTALL | re.IGNORECASE)
_DEBUG_PAGES: Final = {HTTPStatus.NOT_FOUND, HTTPStatus.INTERNAL_SERVER_ERROR}


class ContentSecurityMiddleware:
    """Adds the policy to every answer that has none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on, and look at the answer."""
        response = self._get_response(request)
        if not (settings.DEBUG and response.status_code in _DEBUG_PAGES):
            is_admin = getattr(request, "is_admin_page", False)
            response.headers.setdefault(HEADER, _header(admin_policy(response) if is_admin else _STRICT))
        return response


def admin_policy(response: HttpResponseBase) -> dict[str, str]:
    """Return the policy of a page in the admin's frame."""
    styles = ["'self'", _HTMX_STYLE, *_hashes(response)]
    return {**_STRICT, "script-src": "'self' 'unsafe-eval'", "style-src": " ".join(styles)}


def _hashes(response: HttpResponseBase) -> list[str]:
    if not isinstance(response, HttpResponse):
        return []
    head, theme = _HEAD.search(response.content), _THEME.search(response.content)
    styles: list[Any] = [*(_STYLE.findall(head[0]) if head else ()), *([theme[1]] if theme else ())]
    return [f"'sha256-{base64.b64encode(hashlib.sha256(style).digest()).decode()}'" for style in styles]


def _header(policy: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in policy.items())
