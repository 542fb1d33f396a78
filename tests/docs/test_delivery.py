"""The page of promises names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_test_named_by_a_promise_exists() -> None:
    named = NAMED.findall((ROOT / "docs" / "delivery.md").read_text())
    assert len(named) > 20
    missing = [f"{path}::{name}" for path, name in named if f"def {name}(" not in _text(path)]
    assert missing == []


def test_every_link_of_the_documentation_leads_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)} -> {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []


def _text(path: str) -> str:
    file = ROOT / path
    return file.read_text() if file.exists() else ""
