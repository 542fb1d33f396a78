"""Certificates of servers end on a day that is known: how many days are left is told while there are some."""

import ssl
from datetime import UTC, datetime
from typing import Any, Final

#: Days before its end from which on a certificate is worth a warning: those that renew by themselves have done so.
WARN_DAYS: Final = 14
_SECONDS_PER_DAY: Final = 86_400


def certificate_of(connected: Any) -> dict[str, Any] | None:
    """Return when the certificate of the other side ends, and for whom it is; None without TLS, or if unverified."""
    told: Any = connected.getpeercert() if isinstance(connected, ssl.SSLSocket) else None
    if not told or "notAfter" not in told:
        return None
    ends_at = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(told["notAfter"])), UTC)
    seconds_left = (ends_at - datetime.now(UTC)).total_seconds()
    names = [value for kind, value in told.get("subjectAltName", ()) if kind in ("DNS", "IP Address")]
    return {"ends_at": ends_at.isoformat(), "days_left": round(seconds_left / _SECONDS_PER_DAY, 1), "names": names[:5]}
