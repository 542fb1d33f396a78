"""Wording of diagnoses: sentences with values that wait for their reader's language, and lengths of time."""

from collections.abc import Mapping
from typing import Any, Final, cast

from django.utils.functional import Promise, lazy
from django.utils.translation import gettext_lazy

from baton_messaging.health.diagnosis import Confidence, Text

CONFIDENCES: Final[dict[Confidence, Promise]] = {
    Confidence.SURE: gettext_lazy("sure"),
    Confidence.LIKELY: gettext_lazy("likely"),
    Confidence.OPEN: gettext_lazy("not known"),
}
_STEPS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def _filled(text: Text, values: Mapping[str, Any]) -> str:
    return str(cast("str", text) % values)


_lazily_filled = lazy(_filled, str)


def said(text: Text, **values: Any) -> Promise:
    """Return a lazy translation with values, which may be lazy themselves, put into its ``%(name)s``.

    The operator ``%`` would translate at once, into the language of the thread that asks, which is not the reader's.
    """
    return cast("Promise", _lazily_filled(text, values))


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


def two_digits(number: float) -> str:
    """Return a number without digits that say nothing.

    >>> [two_digits(value) for value in (0, 0.2, 12.34, 4321.0)]
    ['0', '0.2', '12', '4321']
    """
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")  # noqa: PLR2004 - two digits
