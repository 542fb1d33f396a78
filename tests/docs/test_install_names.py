"""Nothing tells anybody to install from the index what is there under somebody else's name."""

import re
from collections.abc import Iterator
from pathlib import Path

from baton_dev.project import PROJECT_DIR

FOLDERS = ("", "docs", "docs/decisions", "packages/baton-messaging", "packages/baton-dev")
#: `pip install baton`, `pip install "baton[otel]"`; not the path of a package in this repository.
FROM_THE_INDEX = re.compile(r"(?:pip|uv|pipx|poetry) (?:install|add)[^\n]*?[\s\"'`]baton[\w.\[-]*")


def pages() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (PROJECT_DIR / folder).glob("*.md")
    for package in ("baton-messaging", "baton-dev"):
        for kind in ("*.py", "*.md"):
            yield from (PROJECT_DIR / "packages" / package / "src").rglob(kind)


def test_no_page_and_no_message_installs_baton_from_the_index() -> None:
    found = {
        f"{path.relative_to(PROJECT_DIR)}: {match}"
        for path in pages()
        for match in FROM_THE_INDEX.findall(path.read_text())
    }
    assert found == set()


def test_the_project_itself_is_not_to_be_uploaded() -> None:
    for project in (".", "packages/baton-messaging", "packages/baton-dev"):
        assert "Private :: Do Not Upload" in (PROJECT_DIR / project / "pyproject.toml").read_text()
