"""Every page can be reached from the README, and what a page names is there: links, files, modules."""

import importlib
import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, anchors, links, pages, prose

IS_OLD = {"CHANGELOG.md", "UPGRADING.md"}  # they name what was there before, too

IMPORT_FOLDERS = [ROOT, ROOT / "packages/baton-messaging/src", ROOT / "packages/baton-dev/src"]
TOP_NAMES = r"(?:baton_messaging|baton_dev|config|orders|inventory|notifications|tests|benchmarks|docs|packages|\.ci)"
PATH = re.compile(rf"`({TOP_NAMES}/[\w./*-]*)(?:::\w+)?`")
MODULE = re.compile(r"`((?:baton_messaging|baton_dev)(?:\.[a-z_]+){2,})(?:[:.]\w+)?`")
IMPORT = re.compile(r"^from ((?:baton_messaging|baton_dev|config)[\w.]*) import ([\w, ]+)$", re.MULTILINE)


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting += [path for _, path, _ in links(page) if path in pages() and path not in reached]
    lost = [_name(page) for page in pages() if page not in reached]
    assert lost == []
    assert len(reached) > 20


def test_every_page_of_docs_and_packages_has_its_line_in_the_index() -> None:
    listed = {path for _, path, _ in links(ROOT / "docs" / "README.md")}
    wanted = [
        page for page in pages() if _name(page).startswith(("docs/", "packages/")) and "/tests/" not in _name(page)
    ]
    assert [_name(page) for page in wanted if page not in listed and page != ROOT / "docs" / "README.md"] == []


def test_every_link_leads_somewhere() -> None:
    broken = [
        f"{_name(page)} -> {target}"
        for page in pages()
        for target, path, anchor in links(page)
        if not path.exists() or (anchor and anchor not in anchors(path))
    ]
    assert broken == []


def test_every_file_and_module_that_is_named_is_there() -> None:
    missing = [
        f"{_name(page)}: {named}"
        for page in pages()
        if page.name not in IS_OLD
        for is_there, found in ((_is_file, PATH.findall(prose(page))), (_is_module, MODULE.findall(prose(page))))
        for named in found
        if not is_there(named, page)
    ]
    assert missing == []


def test_every_import_that_is_shown_works() -> None:
    shown = {found for page in pages() if page.name not in IS_OLD for found in IMPORT.findall(page.read_text())}
    assert len(shown) > 1
    missing = [
        f"from {module} import {name}"
        for module, names in sorted(shown)
        for name in re.split(r",\s*", names.strip())
        if not hasattr(importlib.import_module(module), name)
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`baton_messaging/consuming/` decides", ["baton_messaging/consuming/"]),
        ("proved by `tests/docs/test_index.py::test_it`", ["tests/docs/test_index.py"]),
        ("`/orders/ID/triage/` is an address, `config` a word", []),
    ],
)
def test_a_path_is_told_from_what_only_looks_like_one(text: str, found: list[str]) -> None:
    assert PATH.findall(text) == found


def _is_file(named: str, page: Path) -> bool:
    """Tell whether a path is one of the repository's, of an import's, or of the package that the page is about."""
    folders = [*IMPORT_FOLDERS, *(parent for parent in page.parents if parent.parent == ROOT / "packages")]
    return any(any(folder.glob(named.rstrip("/"))) for folder in folders)


def _is_module(named: str, page: Path) -> bool:
    """Tell whether a dotted name is a module's, or of something in one."""
    path, _slash, name = named.replace(".", "/").rpartition("/")
    if any(_is_file(f"{path}/{name}{ending}", page) for ending in ("", ".py")):
        return True
    texts = [(folder / path).with_suffix(".py") for folder in IMPORT_FOLDERS]
    return any(text.exists() and re.search(rf"\b{name}\b", text.read_text()) for text in texts)


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()
