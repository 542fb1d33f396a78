"""Plan: which insertions into which files, and what is left for a person to place.

A statement that is added stands where its value is final: a list that is written out gets its items in it, any other
setting gets a statement at the end of the module in which it begins.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from baton_messaging.adoption import bindings
from baton_messaging.adoption.source import Source


@dataclass(frozen=True)
class ByHand:
    """Lines that a person must place, where, and why it was not done."""

    where: str
    why: str
    lines: str = ""

    def __str__(self) -> str:
        indented = "".join(f"\n    {line}" for line in self.lines.splitlines())
        return f"{self.where}: {self.why}{indented}"


@dataclass
class Plan:
    """What would be changed, in the order in which it is written: after each the project still starts."""

    sources: dict[Path, Source] = field(default_factory=dict)
    by_hand: list[ByHand] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # a word for each thing that is not there yet
    left: set[str] = field(default_factory=set)  # of those, what is by hand

    def source(self, path: Path) -> Source:
        """Return a file to insert into, one for all who do. Raises Unreadable."""
        if path not in self.sources:
            self.sources[path] = Source.read(path)
        return self.sources[path]

    def leave(self, what: str, by_hand: ByHand) -> None:
        """Note what is missing, and for a person to place."""
        self.missing.append(what)
        self.left.add(what)
        self.by_hand.append(by_hand)

    def create(self, path: Path, text: str) -> None:
        """Note a new file."""
        self.sources[path] = Source.new(path, text)

    @property
    def changed(self) -> list[Source]:
        """Return the files to write."""
        return [source for source in self.sources.values() if source.is_changed]


def add_import(source: Source, module: str, names: Sequence[str]) -> None:
    """Import names from a module, into the statement that there is, or behind the last import of the head."""
    wanted = [name for name in names if not bindings.imported(source.tree, module, name)]
    there = _import_of(source.tree, module)
    if there is None:
        add_imports(source, [(module, wanted)] if wanted else [])
        return
    for name in wanted:
        follower = next((alias for alias in there.names if alias.name > name), None)
        if follower:
            source.insert(source.start_of(follower), f"{name}, ")
        else:
            source.insert(source.end_of(there.names[-1]), f", {name}")


def add_imports(source: Source, imports: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Add a paragraph of imports behind the last one of the head; without names the module itself.

    What is imported already is left out; ``os`` goes to the top, where modules of Python's are.
    """
    tree, lines = source.tree, []
    for module, names in imports:
        wanted = [name for name in names or [""] if not bindings.imported(tree, module, name)]
        if not wanted:
            continue
        if names and _import_of(tree, module):
            add_import(source, module, names)
        elif module == "os" and tree.body and isinstance(first := _first_import(tree), ast.stmt):
            source.insert_lines(source.start_of(first), "import os\n")
        else:
            lines.append(f"from {module} import {', '.join(wanted)}\n" if names else f"import {module}\n")
    if not lines:
        return
    head = last_of_head(tree)
    if head is None:
        source.insert_lines(0, "".join([*lines, "\n" if tree.body else ""]))
    else:
        is_alone = len(imports) == 1 and isinstance(head, ast.Import | ast.ImportFrom)
        source.insert_lines(source.next_line(source.end_of(head)), "".join(["" if is_alone else "\n", *lines]))


def _import_of(tree: ast.Module, module: str) -> ast.ImportFrom | None:
    """Return the statement that names of a module can be added to."""
    found = (one for one in tree.body if isinstance(one, ast.ImportFrom) and one.module == module and not one.level)
    return next((one for one in found if one.names[0].name != "*"), None)


def _first_import(tree: ast.Module) -> ast.stmt | None:
    """Return the first import that may have another in front."""
    found = (one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom))
    first = next(found, None)
    is_future = isinstance(first, ast.ImportFrom) and first.module == "__future__"
    return next(found, None) if is_future else first


def last_of_head(tree: ast.Module) -> ast.stmt | None:
    """Return the last import before the first statement that does something, or the docstring."""
    last = None
    for index, statement in enumerate(tree.body):
        is_docstring = index == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_docstring and not isinstance(statement, ast.Import | ast.ImportFrom):
            break
        last = statement
    return last


def append(source: Source, text: str) -> None:
    """Add statements at the end of a module, after one blank line."""
    end = len(source.text)
    source.insert_lines(end, f"\n{text}" if source.text.strip() else text)


def add_items(
    source: Source,
    setting: str,
    items: Sequence[str],
    *,
    body: Sequence[ast.stmt] | None = None,
    before: Callable[[list[str | None]], int | None] = lambda _items: None,
    is_tuple: bool = False,
) -> None:
    """Add texts to a setting that is a list or a tuple: in it where it is written out, else behind what makes it."""
    literal = bindings.literal_of(source.tree.body if body is None else body, setting)
    if literal is not None:
        there = bindings.text_items(literal)
        quote = bindings.quote_of(source, literal)
        wanted = [f"{quote}{item}{quote}" for item in items if item not in there]
        bindings.add_to_literal(source, literal, wanted, before=before(there))
        return
    texts = ", ".join(f'"{item}"' for item in items)
    inner = f"{texts}, *{setting}" if before([None]) == 0 else f"*{setting}, {texts}"
    append(source, f"{setting} = {f'({inner})' if is_tuple else f'[{inner}]'}\n")
