"""Every route of the project with values in place of its parameters, for tests that walk all of them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.urls import URLResolver, get_resolver


class Route(NamedTuple):
    """A pattern of the URLs, as Django joins it, and the name that it has."""

    pattern: str
    name: str

    def path(self, values: Mapping[str, Any]) -> str:
        """Return an address of it."""
        text = re.sub(r"\(\?P<app_label>[^)]*\)", "orders", self.pattern).replace("(?P<url>.*)", "nowhere")
        text = text.replace("^", "").replace("$", "")
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(values[match[1]]), text)


def all_routes() -> list[Route]:
    return list(_walk(get_resolver().url_patterns, ""))


def _walk(patterns: Any, prefix: str) -> Iterator[Route]:
    for pattern in patterns:
        joined = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, joined)
        else:
            yield Route(joined, pattern.name or "")
