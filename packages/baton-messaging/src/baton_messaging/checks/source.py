"""Read the source of the project's apps: what a module imports, and whom it calls.

Names are followed through imports, never guessed from their spelling: ``follow.delay()`` counts only where ``follow``
is a consumer. Hazard: what is looked up at run time (``getattr``, a name from a setting) is not seen.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import django
from django.apps import AppConfig, apps

_FOREIGN = {"site-packages", "dist-packages"}
_OURS = {"baton_messaging", "baton_dev"}  # wherever they are installed: their questions are answered by their own tests
_NOT_THE_APP = {"migrations", "tests"}


@dataclass
class Module:
    """A file of an app."""

    name: str
    path: Path
    is_package: bool = field(default=False)

    @cached_property
    def text(self) -> str:
        """Return the source."""
        return self.path.read_text(errors="replace")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Return all of the source, parsed. Kept, since walking the tree takes longer than parsing it."""
        return list(ast.walk(ast.parse(self.text)))

    @cached_property
    def imports(self) -> dict[str, str]:
        """Return what each imported name stands for, wherever in the file it is imported."""
        return dict(_imports(self))

    @cached_property
    def imported(self) -> set[str]:
        """Return the full names of all that is imported."""
        whole = {name.name for node in self.nodes if isinstance(node, ast.Import) for name in node.names}
        return {*self.imports.values()} | whole

    def calls(self) -> Iterator[ast.Call]:
        """Return the calls in the order of the file."""
        found = [node for node in self.nodes if isinstance(node, ast.Call)]
        yield from sorted(found, key=lambda call: (call.lineno, call.col_offset))

    def dotted(self, node: ast.expr) -> str | None:
        """Return the full name of ``a.b.c``, None for anything that is not a name."""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id, f"{self.name}.{node.id}")
        if isinstance(node, ast.Attribute):
            head = self.dotted(node.value)
            return f"{head}.{node.attr}" if head else None
        return None

    def at(self, node: ast.expr | ast.stmt) -> str:
        """Return where a node stands, as file and line."""
        return f"{self.path.name}, line {node.lineno} ({self.name})"


def project_apps() -> list[AppConfig]:
    """Return the installed apps that are the project's own, not a package's.

    A package is known by where it lies: in site-packages, or beside Django (``pip install --target``).
    """
    packages = Path(django.__file__).resolve().parent.parent
    return [config for config in apps.get_app_configs() if not _is_of_package(config, packages)]


def modules_of(config: AppConfig) -> Iterator[Module]:
    """Return the modules of an app, without its migrations and tests."""
    root = Path(config.path)
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).with_suffix("").parts
        if _NOT_THE_APP & set(inside):
            continue
        is_package = inside[-1] == "__init__"
        parts = inside[:-1] if is_package else inside
        yield Module(".".join([config.name, *parts]), path, is_package)


def modules_that_mention(pattern: re.Pattern[str]) -> Iterator[Module]:
    """Return the project's modules whose text matches. Only these are parsed."""
    for config in project_apps():
        yield from (module for module in modules_of(config) if pattern.search(module.text))


def _is_of_package(config: AppConfig, packages: Path) -> bool:
    path = Path(config.path).resolve()
    return config.name.partition(".")[0] in _OURS or bool(_FOREIGN & set(path.parts)) or packages in path.parents


def _imports(module: Module) -> Iterator[tuple[str, str]]:
    for node in module.nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                yield (name.asname, name.name) if name.asname else (name.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            yield from ((name.asname or name.name, f"{base}.{name.name}") for name in node.names)


def _base(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    package = parts if module.is_package else parts[:-1]
    head = package[: len(package) - node.level + 1]
    return ".".join([*head, *([node.module] if node.module else [])])
