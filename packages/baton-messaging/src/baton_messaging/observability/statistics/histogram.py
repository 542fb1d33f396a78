"""Counts by buckets of seconds: how long handlers take, and how long a message took from its event to its effect."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

#: Upper bounds in seconds, the last bucket has none. Never change them: stored counts go by position.
DURATION_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0)
LAG_BOUNDS: Final = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0, 3_600.0, 21_600.0)


def added(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Return both together; an empty one stands for nothing counted.

    >>> added([1, 2], [])
    [1, 2]
    >>> added([1, 2], [3, 0])
    [4, 2]
    """
    if not one or not other:
        return [*(one or other)]
    return [left + right for left, right in zip(one, other, strict=True)]


def highest(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Return the greater count of each bucket.

    >>> highest([1, 5], [3, 4])
    [3, 5]
    """
    if not one or not other:
        return [*(one or other)]
    return [max(left, right) for left, right in zip(one, other, strict=True)]


def cumulated(counts: Sequence[int], bounds: Sequence[float]) -> list[int]:
    """Return, for each bound and for no bound, how many were not above it.

    >>> cumulated([2, 1, 4], (0.1, 1.0))
    [2, 3, 7]
    >>> cumulated([], (0.1, 1.0))
    [0, 0, 0]
    """
    return list(accumulate(counts)) if counts else [0] * (len(bounds) + 1)


def quantile(
    share: float, counts: Iterable[int], bounds: Sequence[float], *, total: float | None = None
) -> float | None:
    """Return the seconds that ``share`` of them did not exceed, read evenly within its bucket; None of nothing.

    ``total``, the sum of all, bounds what a bucket of a few can hold: one message of 72 s is not told as 280 s because
    its bucket ends at 300 s. What lies above the last bound is told as that bound; one alone, as what is left.

    >>> quantile(0.5, [0, 10, 0], (1.0, 2.0))
    1.5
    >>> quantile(0.5, [0, 0, 3], (1.0, 2.0))
    2.0
    >>> quantile(0.95, [0, 0, 1], (60.0, 300.0), total=400.0)
    400.0
    >>> quantile(0.95, [9, 1, 0], (60.0, 300.0), total=72.5)
    72.5
    >>> quantile(0.5, [], (1.0, 2.0)) is None
    True
    """
    counted = list(counts)
    wanted = share * sum(counted)
    if not wanted:
        return None
    below = 0
    for place, count in enumerate(counted):
        if below + count >= wanted:
            return _within(place, (wanted - below) / count, counted, bounds, total)
        below += count
    return bounds[-1]


def _within(place: int, part: float, counts: Sequence[int], bounds: Sequence[float], total: float | None) -> float:
    """Read a bucket evenly, between its bounds and not above what the sum leaves for one of it."""
    lowers = [0.0, *bounds]
    lower, is_last = lowers[place], place == len(bounds)
    if total is None:
        return lower if is_last else lower + (bounds[place] - lower) * part
    others = sum(count * low for count, low in zip(counts, lowers, strict=False)) - lower
    most = max(total - others, lower)
    if is_last:
        return most if counts[place] == 1 else lower
    return min(lower + (bounds[place] - lower) * part, most)
