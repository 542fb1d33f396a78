"""The page of faults knows every code that is cited, and names tests that exist."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "faults.md"

CODE = re.compile(r"(?<![\w#%&])F\d{2,3}\b")  # no colour, no escape
RULES = re.compile(r"noqa:[ ]*[A-Z]+\d+(?:[, ]+[A-Z]+\d+)*")  # the linter's, some of which look like our codes
ENTRY = re.compile(r"^## (F\d{2,3}) \S.*\n((?:(?!## ).*\n)*)", re.MULTILINE)
NAMED = re.compile(r"`([\w./-]+\.py)::(test_\w+)`")

NOT_READ = {".lock", ".json"}  # written by programs


def codes_in(text: str) -> set[str]:
    return set(CODE.findall(RULES.sub("", text)))


@cache
def citations() -> dict[str, str]:
    """Every code that a file of the repository cites, and one file that does."""
    cited = {}
    for path in _files():
        for code in codes_in(_text(path)):
            cited[code] = path
    return cited


@cache
def entries() -> dict[str, str]:
    return dict(ENTRY.findall(PAGE.read_text()))


def test_every_code_that_is_cited_has_an_entry() -> None:
    assert len(citations()) > 30
    unexplained = {code: path for code, path in citations().items() if code not in entries()}
    assert unexplained == {}


def test_every_entry_is_cited_or_proved_by_a_test() -> None:
    idle = [code for code, entry in entries().items() if code not in citations() and not NAMED.search(entry)]
    assert idle == []


def test_every_entry_stands_once_and_in_order() -> None:
    codes = [code for code, _ in ENTRY.findall(PAGE.read_text())]
    assert codes == sorted(set(codes), key=lambda code: int(code[1:]))
    assert len(codes) == PAGE.read_text().count("\n## ")


def test_every_test_named_by_an_entry_exists() -> None:
    named = NAMED.findall(PAGE.read_text())
    assert len(named) > 60
    assert len(named) == PAGE.read_text().count("::")  # none is written in a way that is not looked at
    missing = [f"{path}::{name}" for path, name in named if f"def {name}(" not in _text(path)]
    assert missing == []


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("a redelivery finds the row (F09, F15).", {"F09", "F15"}),
        ("from config.settings import *  # noqa: F403", set()),
        ("import config  # noqa: E402, F401 - for all", set()),
        ("import config  # noqa: F401 - the second delivery (F15)", {"F15"}),
        ("color: #F12; key F5; UTF16; 0xF00", set()),
    ],
)
def test_a_code_is_told_from_what_only_looks_like_one(line: str, codes: set[str]) -> None:
    assert codes_in(line) == codes


def _files() -> list[str]:
    """Return the repository's own files, new ones too, other than the page."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [
        path
        for path in sorted(set(filter(None, listed.split("\0"))))
        if Path(path).suffix not in NOT_READ and ROOT / path != PAGE
    ]


def _text(path: str) -> str:
    try:
        return (ROOT / path).read_text()
    except (FileNotFoundError, UnicodeDecodeError):  # deleted and not committed yet; no text
        return ""
