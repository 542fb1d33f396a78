"""Filters ``duration`` and ``rate``: two digits that matter, with the unit."""

from django import template

register = template.Library()

_STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@register.filter
def duration(seconds: float | None) -> str:
    """Return seconds in the unit that fits; a dash for None.

    >>> [duration(seconds) for seconds in (None, 0, 0.0042, 0.31, 5.25, 90, 4000, 200000)]
    ['–', '0 s', '4 ms', '310 ms', '5.2 s', '1.5 min', '1.1 h', '2.3 d']
    """
    if seconds is None:
        return "–"
    if 0 < seconds < 1:
        return f"{max(seconds * 1000, 1):.0f} ms"
    size, unit = next(((size, unit) for size, unit in _STEPS if seconds >= size), (1, "s"))
    return f"{_short(seconds / size)} {unit}"


@register.filter
def rate(per_minute: float) -> str:
    """Return a rate without digits that say nothing.

    >>> [rate(value) for value in (0, 0.2, 12.34, 4321.0)]
    ['0', '0.2', '12', '4321']
    """
    return _short(per_minute)


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")  # noqa: PLR2004 - two digits
