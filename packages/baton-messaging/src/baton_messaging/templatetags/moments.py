"""Tags ``moment`` and ``exactly``: a time reads the same on every page, how long ago it was and exactly, with its zone.

For an app's own templates, too: ``{% load moments %}{% moment order.placed_at %}``. Admin columns call ``moment_of``.
"""

from datetime import datetime, timedelta
from typing import Final

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

register = template.Library()

RECENT: Final = timedelta(days=7)  # what is longer ago is known by its date
_DASH: Final = "–"


def exact_text(at: datetime) -> str:
    """Return date, time and zone: "2026-12-01 05:13:04 UTC", in the project's time zone."""
    return timezone.localtime(at).strftime("%Y-%m-%d %H:%M:%S %Z")


def relative_text(at: datetime, now: datetime) -> str:
    """Return how long ago it was, or how long from now; the exact time of what is further away than a week."""
    if abs(now - at) >= RECENT:
        return exact_text(at)
    seconds = (now - at).total_seconds()
    return _ago(seconds) if seconds >= 0 else _ahead(-seconds)


def moment_of(at: datetime | None) -> SafeString:
    """Return how long ago it was, and exactly in the title; a dash for None."""
    if at is None:
        return SafeString(_DASH)
    return _element(at, relative_text(at, timezone.now()), exact_text(at))


def exactly(at: datetime | None) -> SafeString:
    """Return the exact time, and how long ago it was in the title; a dash for None."""
    if at is None:
        return SafeString(_DASH)
    return _element(at, exact_text(at), relative_text(at, timezone.now()))


register.simple_tag(moment_of, name="moment")
register.simple_tag(exactly)
register.filter("exact_text", exact_text)


def _element(at: datetime, shown: str, title: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', timezone.localtime(at).isoformat(), title, shown)


def _ago(seconds: float) -> str:
    if seconds < 1:
        return _("just now")
    if seconds < 60:  # noqa: PLR2004 - as below: minutes, hours, days
        return _("%(count)d s ago") % {"count": seconds}
    if seconds < 3600:  # noqa: PLR2004
        return _("%(count)d min ago") % {"count": seconds // 60}
    if seconds < 86400:  # noqa: PLR2004
        return _("%(count)d h ago") % {"count": seconds // 3600}
    return _("%(count)d d ago") % {"count": seconds // 86400}


def _ahead(seconds: float) -> str:
    if seconds < 60:  # noqa: PLR2004
        return _("in %(count)d s") % {"count": seconds}
    if seconds < 3600:  # noqa: PLR2004
        return _("in %(count)d min") % {"count": seconds // 60}
    if seconds < 86400:  # noqa: PLR2004
        return _("in %(count)d h") % {"count": seconds // 3600}
    return _("in %(count)d d") % {"count": seconds // 86400}
