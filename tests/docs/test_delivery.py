"""The page of promises names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAMED = re.compile(r"`([\w./-]+\.py)::(test_\w+)`")


def test_every_test_named_by_a_promise_exists() -> None:
    named = NAMED.findall((ROOT / "docs" / "delivery.md").read_text())
    assert len(named) > 80
    assert len(named) == (ROOT / "docs" / "delivery.md").read_text().count("::")  # none is written in another way
    missing = [f"{path}::{name}" for path, name in named if f"def {name}(" not in _text(path)]
    assert missing == []


def _text(path: str) -> str:
    file = ROOT / path
    return file.read_text() if file.exists() else ""
