"""The client's address is what the last trusted proxy saw, and without a proxy what the connection has.

Each proxy appends the address that it was called from to X-Forwarded-For. With n of them in front (``PROXY_COUNT``),
the n-th from the end was written by the outermost one; whatever stands before it, a client may have made up.
"""

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Return the address, or an empty string where there is none (a Unix socket without a proxy that says it)."""
    claimed = _forwarded(request) if settings.PROXY_COUNT else ""
    address = claimed or request.META.get("REMOTE_ADDR") or ""
    return address if _is_address(address) else ""


def is_loopback(request: HttpRequest) -> bool:
    """Tell whether the client is on this machine."""
    address = client_address(request)
    return bool(address) and ip_address(address).is_loopback


def _forwarded(request: HttpRequest) -> str:
    chain = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    return chain[-settings.PROXY_COUNT] if len(chain) >= settings.PROXY_COUNT else ""


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
