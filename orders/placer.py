"""The placer of an order is known by a token, which the placing answer and the mails carry, or by the browser.

The token is a signature over the order's id: nothing is stored, it is the same each time, and it opens that order only.
A browser gets a random key as a cookie when it places its first order; the order keeps a hash of it. Either is enough
to cancel, and nothing else that a visitor can know is: an id may be seen over a shoulder.

Hazard: whoever has the mail has the token. It cancels; it shows nothing that the order's address does not.
"""

import hashlib
import secrets
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from orders.models import Order

COOKIE: Final = "placed_by"
COOKIE_SECONDS: Final = 90 * 24 * 3600
_MAX_KEY_LENGTH: Final = 100  # characters; ours has 43
_SALT: Final = "orders.placer"


def token_of(order_id: UUID) -> str:
    """Return the token that shows who placed the order."""
    return Signer(salt=_SALT).signature(str(order_id))


def has_placed(request: HttpRequest, order: Order, *, token: str = "") -> bool:
    """Tell whether a request comes from whoever placed the order."""
    return _is_token_of(order.pk, token) or _is_same(order.placed_by, browser_of(request))


def browser_of(request: HttpRequest) -> str:
    """Return the hash of the browser's key, or an empty string for a browser that has none."""
    key = request.COOKIES.get(COOKIE, "")
    return _hash(key) if key and len(key) <= _MAX_KEY_LENGTH and key.isascii() else ""


def placing(request: HttpRequest) -> tuple[str, dict[str, Any]]:
    """Return what the order keeps of the browser, and the cookie to set: empty where the browser has one already."""
    known = browser_of(request)
    if known:
        return known, {}
    key = secrets.token_urlsafe(32)
    return _hash(key), {"key": COOKIE, "value": key}


def remember(response: HttpResponse, cookie: dict[str, Any]) -> None:
    """Give the browser its key. It is sent back by this site's own forms and scripts only."""
    if cookie:
        secure = settings.SESSION_COOKIE_SECURE
        response.set_cookie(**cookie, max_age=COOKIE_SECONDS, secure=secure, httponly=True, samesite="Lax")


def _is_token_of(order_id: UUID, token: str) -> bool:
    if not (token and token.isascii()):
        return False
    try:
        Signer(salt=_SALT).unsign(f"{order_id}:{token}")
    except BadSignature:
        return False
    return True


def _is_same(kept: str, shown: str) -> bool:
    return bool(kept and shown) and constant_time_compare(kept, shown)


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
