"""The package's top level is its map: few names, each in the table that its docstring shows."""

import re
from pathlib import Path

import baton_messaging

#: As Django, or a packager, looks for them.
DJANGOS_OWN = frozenset(
    {
        "apps", "conf", "install", "locale", "management", "migrations", "models", "static", "tasks", "templates",
        "templatetags", "urls",
    }
)  # fmt: skip
MAX_NAMES = 29


def names() -> set[str]:
    entries = Path(baton_messaging.__file__).parent.iterdir()
    own = {path.name.removesuffix(".py") for path in entries if not path.name.startswith(("_", "."))}
    return own - DJANGOS_OWN - {"py.typed"}


def rooms_on_map() -> list[str]:
    return re.findall(r"^    (\w+) {2,}\S", baton_messaging.__doc__ or "", re.MULTILINE)


def test_the_top_level_has_few_names() -> None:
    assert len(names()) <= MAX_NAMES, sorted(names())


def test_the_map_shows_each_name_once() -> None:
    assert sorted(rooms_on_map()) == sorted(names())
