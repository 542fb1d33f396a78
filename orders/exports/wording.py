"""What people are told of an export, in sentences of their language."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from orders.exports.errors import ExportRefused, QueueFull, TooManyExports
from orders.exports.models import Export
from orders.exports.states import Failure

_SENTENCES: dict[str, Promise] = {
    Failure.STORAGE: gettext_lazy("The file could not be stored. Please try again."),
    Failure.UNEXPECTED: gettext_lazy("Something broke on our side. The people in charge know. Please try again."),
    Failure.UNDELIVERED: gettext_lazy("No worker could be given it. The people in charge know. Please try again."),
}


def failure_sentence(export: Export) -> str | None:
    """Say why an export failed and what to do; None if it did not."""
    limit = export.limit or 0
    if export.failure == Failure.TIME_LIMIT:
        text = _("It took longer than %(duration)s, the limit for one export. Please choose a shorter period.")
        return text % {"duration": duration(limit)}
    if export.failure == Failure.WORKER_LOST:
        text = _("It lost its worker %(count)d times. Please try again, or choose a shorter period.")
        return text % {"count": limit}
    if export.failure == Failure.INCOMPLETE:
        return _("The file was not whole, so it was thrown away. Please try again.")
    return str(_SENTENCES[export.failure]) if export.failure else None


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
