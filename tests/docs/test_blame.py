"""docs/blame.md has every fault that `make blame` injects."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULT = re.compile(r'^(?:@fault|refusal)\(\s*"([^"]+)"', re.MULTILINE)


def test_every_fault_is_listed() -> None:
    page = (ROOT / "docs/blame.md").read_text()
    sources = [*ROOT.glob("tests/blame/faults/*.py"), *ROOT.glob("packages/*/tests/blame/faults/*.py")]
    names = [name for source in sources for name in FAULT.findall(source.read_text())]
    assert len(names) >= 130
    assert [name for name in names if f"| {name}" not in page] == []
