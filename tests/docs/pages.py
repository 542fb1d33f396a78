"""Pages of the documentation are read here: which there are, what they link to, and which places a link may name."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`[^`\n]+`")


@cache
def pages() -> tuple[Path, ...]:
    """Return all pages of the repository, new ones too."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return tuple(sorted(ROOT / name for name in set(filter(None, listed.split("\0"))) if (ROOT / name).exists()))


def prose(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return FENCED.sub("", page.read_text())


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield each link to a place in the repository: as it is written, the file, and the anchor or an empty text."""
    for target in LINK.findall(QUOTED.sub("", prose(page))):
        path, _hash, anchor = target.partition("#")
        yield target, (page.parent / path).resolve() if path else page, anchor


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)
