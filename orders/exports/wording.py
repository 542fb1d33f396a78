"""What people are told of an export, in sentences of their language."""

from collections.abc import Iterator
from datetime import date, datetime

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from orders.exports.errors import ExportRefused, QueueFull, TooManyExports
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.states import Failure
from orders.models import OrderStatus

_SENTENCES: dict[str, Promise] = {
    Failure.STORAGE: gettext_lazy("The file could not be stored. Please try again."),
    Failure.UNEXPECTED: gettext_lazy("Something went wrong on our side. Our team has been told. Please try again."),
    Failure.UNDELIVERED: gettext_lazy("It could not be handed to a worker. Our team has been told. Please try again."),
}


def failure_sentence(export: Export) -> str | None:
    """Say why an export failed and what to do; None if it did not."""
    limit = export.limit or 0
    if export.failure == Failure.TIME_LIMIT:
        text = _("It took longer than %(duration)s, the limit for one export. Please choose a shorter period.")
        return text % {"duration": duration(limit)}
    if export.failure == Failure.WORKER_LOST:
        text = _("Its worker stopped %(count)d times. Please try again, or choose a shorter period.")
        return text % {"count": limit}
    if export.failure == Failure.INCOMPLETE:
        return _("The file was incomplete, so it was deleted. Please try again.")
    return str(_SENTENCES[export.failure]) if export.failure else None


def contents(selection: Selection) -> str:
    """Say which orders an export holds: "confirmed, 2026-01-01 to 2026-03-31", or all.

    >>> str(contents(Selection(status="confirmed", to_day="2026-03-31")))
    'confirmed, until 2026-03-31'
    """
    parts = [_status(selection), _period(selection.from_day, selection.to_day), *_marks(selection)]
    return ", ".join(part for part in parts if part) or _("all orders")


def _status(selection: Selection) -> str:
    return str(OrderStatus(selection.status).label) if selection.status else ""


def _period(first: date | None, last: date | None) -> str:
    if first and last:
        return _("%(first)s to %(last)s") % {"first": first, "last": last} if first != last else str(first)
    if first:
        return _("from %(first)s") % {"first": first}
    return _("until %(last)s") % {"last": last} if last else ""


def _marks(selection: Selection) -> Iterator[str]:
    if selection.placed_from or selection.placed_before:
        first, before = (_exact(at) if at else "…" for at in (selection.placed_from, selection.placed_before))
        yield f"{first} – {before}"
    if selection.needs_attention is not None:
        yield _("needs attention") if selection.needs_attention else _("needs no attention")
    if selection.language:
        yield {"en": _("English"), "ja": _("Japanese")}.get(selection.language, selection.language)
    if selection.search:
        yield _("search “%(words)s”") % {"words": selection.search}
    if selection.order_ids is not None:
        count = len(selection.order_ids)
        yield ngettext("%(count)d picked order", "%(count)d picked orders", count) % {"count": count}


def _exact(at: datetime) -> str:
    return timezone.localtime(at).strftime("%Y-%m-%d %H:%M %Z")


def refusal_sentence(refusal: ExportRefused) -> str:
    """Say why an export is not accepted now and what to do."""
    if isinstance(refusal, TooManyExports):
        text = ngettext(
            "You have %(count)d export waiting or running already. Please wait for it to finish, or cancel it.",
            "You have %(count)d exports waiting or running already. Please wait for one to finish, or cancel one.",
            refusal.limit,
        )
        return text % {"count": refusal.limit}
    if isinstance(refusal, QueueFull):
        text = _("Too many exports are waiting (%(count)d). Please try again in some minutes.")
        return text % {"count": refusal.limit}
    return str(refusal)


def duration(seconds: float) -> str:
    """Return a length of time in words: seconds below two minutes, minutes below two hours, else hours."""
    if seconds < 120:  # noqa: PLR2004 - the docstring says it
        count = max(1, round(seconds))
        return ngettext("%(count)d second", "%(count)d seconds", count) % {"count": count}
    if seconds < 7_200:  # noqa: PLR2004
        count = round(seconds / 60)
        return ngettext("%(count)d minute", "%(count)d minutes", count) % {"count": count}
    count = round(seconds / 3_600)
    return ngettext("%(count)d hour", "%(count)d hours", count) % {"count": count}
