"""Wording of diagnoses: how sure they are, and lengths of time. Sentences with values are Django's ``format_lazy``."""

from collections.abc import Iterable
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from baton_messaging.health.condition import Condition
from baton_messaging.health.diagnosis import Confidence

CONFIDENCES: Final[dict[Confidence, Promise]] = {
    Confidence.SURE: gettext_lazy("sure"),
    Confidence.LIKELY: gettext_lazy("likely"),
    Confidence.OPEN: gettext_lazy("not known"),
}
CONDITIONS: Final[dict[Condition, Promise]] = {
    Condition.OK: gettext_lazy("well"),
    Condition.AWAY: gettext_lazy("away"),
    Condition.REFUSES: gettext_lazy("refuses"),
    Condition.READ_ONLY: gettext_lazy("read-only"),
    Condition.FULL: gettext_lazy("full"),
    Condition.NOT_PERMITTED: gettext_lazy("not permitted"),
    Condition.DIFFERENT: gettext_lazy("different"),
    Condition.NOT_KNOWN: gettext_lazy("not known"),
}
_STEPS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration(seconds: float | None) -> str:
    """Return a length of time in the unit that fits, with the two digits that matter; a dash for None.

    Symbols of units need no translation.

    >>> [duration(seconds) for seconds in (None, 0, 0.0042, 0.31, 5.25, 90, 4000, 200000)]
    ['–', '0 s', '4 ms', '310 ms', '5.2 s', '1.5 min', '1.1 h', '2.3 d']
    """
    if seconds is None:
        return "–"
    if 0 < seconds < 1:
        return f"{max(seconds * 1000, 1):.0f} ms"
    size, unit = next(((size, unit) for size, unit in _STEPS if seconds >= size), (1, "s"))
    return f"{two_digits(seconds / size)} {unit}"


def first_few(names: Iterable[str], *, at_most: int = 4) -> str:
    """Return names as a list, the first few of many.

    >>> first_few(["a", "b", "c"], at_most=2)
    'a, b (+1)'
    """
    told = list(names)
    return ", ".join(told[:at_most]) + (f" (+{len(told) - at_most})" if len(told) > at_most else "")


def two_digits(number: float) -> str:
    """Return a number without digits that say nothing.

    >>> [two_digits(value) for value in (0, 0.2, 12.34, 4321.0)]
    ['0', '0.2', '12', '4321']
    """
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")  # noqa: PLR2004 - two digits
