"""What an edit changes, field by field."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MISSING = "—"


@dataclass(frozen=True)
class Difference:
    """One field that is not the same any more; ``MISSING`` where it is not there."""

    path: str
    before: Any
    after: Any


def differences(before: Any, after: Any, path: str = "") -> list[Difference]:
    """Return the fields that differ between two JSON values.

    >>> differences({"a": 1, "b": [1, {"c": 2}]}, {"a": 1, "b": [1, {"c": 3}, 4]})
    [Difference(path='b.1.c', before=2, after=3), Difference(path='b.2', before='—', after=4)]
    >>> differences({"a": 1}, {"a": 1})
    []
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return [found for name in sorted({*before, *after}) for found in _at(name, before, after, path)]
    if isinstance(before, list) and isinstance(after, list):
        longest = range(max(len(before), len(after)))
        pairs = dict(enumerate(before)), dict(enumerate(after))
        return [found for position in longest for found in _at(position, *pairs, path)]
    same = before == after and type(before) is type(after)
    return [] if same else [Difference(path, before, after)]


def _at(name: Any, before: dict[Any, Any], after: dict[Any, Any], path: str) -> Iterator[Difference]:
    yield from differences(before.get(name, MISSING), after.get(name, MISSING), f"{path}.{name}".lstrip("."))
