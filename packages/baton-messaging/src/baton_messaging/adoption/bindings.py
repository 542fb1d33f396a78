"""Bindings of a name in a module: where it gets its value, and where that value can be added to.

Only what runs at import counts: bodies of functions do not, those of ``if``, ``try``, ``with`` and loops do.
"""

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from baton_messaging.adoption.source import Source

Literal = ast.List | ast.Tuple


@dataclass(frozen=True)
class Binding:
    """One statement that gives a name its value."""

    statement: ast.stmt
    value: ast.expr | None
    is_addition: bool  # it takes the value that there was: `+=`, or a mention of the name itself
    is_certain: bool  # it stands under no condition


def bindings(body: Sequence[ast.stmt], name: str, *, is_certain: bool = True) -> Iterator[Binding]:
    """Find all statements that bind a name, in their order."""
    for statement in body:
        match statement:
            case ast.Assign(targets=targets, value=value) if any(name in _names(target) for target in targets):
                is_plain = any(isinstance(target, ast.Name) for target in targets)
                yield Binding(statement, value if is_plain else None, mentions(value, name), is_certain)
            case ast.AnnAssign(target=ast.Name(id=found), value=value) if found == name and value is not None:
                yield Binding(statement, value, mentions(value, name), is_certain)
            case ast.AugAssign(target=ast.Name(id=found)) if found == name:
                yield Binding(statement, None, True, is_certain)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=found)))) if found == name:
                yield Binding(statement, None, True, is_certain)  # INSTALLED_APPS.append(…), .remove(…)
        for inner in _blocks(statement):
            yield from bindings(inner, name, is_certain=False)


def mentions(node: ast.AST, name: str) -> bool:
    """Tell whether a name occurs in an expression."""
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))


def imported(tree: ast.Module, module: str, name: str) -> bool:
    """Tell whether ``from module import name`` stands at the top level. With name "" an ``import module``."""
    return any(
        (isinstance(one, ast.ImportFrom) and one.module == module and not one.level and name in _originals(one))
        if name
        else (isinstance(one, ast.Import) and module in {alias.name for alias in one.names if not alias.asname})
        for one in tree.body
    )


def stars(body: Sequence[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Find modules that are imported with all that they have: level and name, as in ``from .base import *``."""
    for statement in body:
        if isinstance(statement, ast.ImportFrom) and [alias.name for alias in statement.names] == ["*"]:
            yield statement.level, statement.module or ""
        for inner in _blocks(statement):
            yield from stars(inner)


def literal_of(body: Sequence[ast.stmt], name: str) -> Literal | None:
    """Return the list or tuple that a name is bound to, if all that follows only adds to it."""
    found = list(bindings(body, name))
    if not found or found[0].is_addition or not found[0].is_certain or not isinstance(found[0].value, Literal):
        return None
    return found[0].value if all(binding.is_addition for binding in found[1:]) else None


def add_to_literal(source: Source, literal: Literal, items: Sequence[str], *, before: int | None = None) -> None:
    """Insert items, at the end or before the one with an index, in the form that the list has."""
    elements = literal.elts
    if not elements:
        closing = ")" if isinstance(literal, ast.Tuple) else "]"
        ending = "," if isinstance(literal, ast.Tuple) and len(items) == 1 else ""
        source.insert(source.text.rindex(closing, 0, source.end_of(literal)), ", ".join(items) + ending)
        return
    neighbour = elements[-1 if before is None else before]
    start = source.start_of(neighbour)
    indent = source.indent_at(start)  # "" where it shares its line with others
    if before is not None:
        source.insert(start, "".join(f"{item},\n{indent}" if indent else f"{item}, " for item in items))
        return
    end = source.end_of(neighbour)
    behind_comma = _comma_after(source, end)
    if not indent:
        text = ", ".join(items)
        source.insert(behind_comma or end, f" {text}," if behind_comma else f", {text}")
        return
    if not behind_comma:
        source.insert(end, ",")
    end_of_list = source.end_of(literal)
    following = source.next_line(behind_comma or end)
    lines = "".join(f"{indent}{item},\n" for item in items)
    if following <= end_of_list:
        source.insert(following, lines)
    else:  # the bracket closes on the line of the last element
        source.insert(behind_comma or end, f"\n{lines.rstrip(chr(10))}")


def text_items(literal: Literal) -> list[str | None]:
    """Return the items of a list that are written out, and None for each that is not."""
    return [one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else None for one in literal.elts]


def quote_of(source: Source, literal: Literal) -> str:
    """Return the quotation mark that the items of a list have."""
    texts = [one for one in literal.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return "'" if texts and source.text[source.start_of(texts[-1])] == "'" else '"'


def _comma_after(source: Source, offset: int) -> int | None:
    """Return the offset right behind the comma that follows an element, past comments; None where there is none."""
    rest = source.text[offset:]
    starts = [0]
    for line in io.StringIO(rest, newline=""):
        starts.append(starts[-1] + len(line))
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({rest}", newline="").readline):
            if token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT) or token.start == (1, 0):
                continue
            column = token.end[1] - (1 if token.end[0] == 1 else 0)  # for the bracket that was put in front
            return offset + starts[token.end[0] - 1] + column if token.string == "," else None
    except (tokenize.TokenError, SyntaxError):
        return None
    return None


def _names(target: ast.expr) -> set[str]:
    match target:
        case ast.Name(id=name):
            return {name}
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return {name for part in parts for name in _names(part)}
    return set()


def _originals(statement: ast.ImportFrom) -> set[str]:
    return {alias.name for alias in statement.names if not alias.asname}


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Return the bodies of a statement that run at import, and in the same scope."""
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
        for part in ("body", "orelse", "finalbody"):
            yield getattr(statement, part, [])
        for handler in getattr(statement, "handlers", []):
            yield handler.body
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            yield case.body
