"""Text of any origin is written out as PostgreSQL can store it, and ids as people type them are read."""

import unicodedata
from collections.abc import Iterator
from math import isfinite
from typing import Any


def storable(text: str) -> str:
    """Write out what PostgreSQL has no place for: NUL and lone surrogates. Any other text stays as it is.

    >>> storable("東京"), storable("a\\x00b"), storable("\\udcff")
    ('東京', 'a\\\\x00b', '\\\\udcff')
    """
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def typed_id(text: str) -> str:
    """Read an id or a number as people type and copy it: full-width, with blanks, behind a ``#`` or a ``…``.

    >>> typed_id(" #237A D9F4 5373 "), typed_id("…２３７ad9")
    ('237AD9F45373', '237ad9')
    """
    plain = "".join(unicodedata.normalize("NFKC", text.replace("…", "")).split())
    return plain.lstrip("#")


def unstorable(value: Any, *path: str) -> Iterator[str]:
    """Name the places within JSON types, names included, that jsonb refuses: such text, NaN and Infinity.

    >>> list(unstorable({"a": ["b", "c\\x00"], "d": float("nan"), "e": {"f": 1}}))
    ['a.1', 'd']
    """
    if isinstance(value, str):
        is_refused = value != storable(value)
    elif isinstance(value, float):
        is_refused = not isfinite(value)
    else:
        is_refused = False
    if is_refused:
        yield ".".join(path)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from unstorable(inner if name == storable(name) else name, *path, storable(name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from unstorable(inner, *path, str(index))
