"""Project that adopts Baton: which of its files are its settings, its Celery application, its URLs.

Asked of the process that runs the command, in which Django has read the settings; the application is imported, as its
workers do. A file is the project's if it lies below the folder of ``manage.py`` and in no virtual environment.
"""

import ast
import importlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from celery import Celery
from celery._state import get_current_app
from django.conf import settings

from baton_messaging.adoption.bindings import bindings, stars
from baton_messaging.adoption.source import PLANNED, Unreadable, parsed, raw_of

_FOREIGN_FOLDERS: Final = {"node_modules", "site-packages", "migrations", "tests", "build", "dist"}
_DJANGO_SETTINGS: Final = "django.conf:settings"


@dataclass(frozen=True)
class CeleryModule:
    """The file that makes the Celery application, and the name that it has there."""

    path: Path
    module: str
    variable: str
    app: Celery | None  # None where it cannot be imported
    was_imported: bool  # with the settings, as senders of messages need it


class Project:
    """What is known of the project whose settings this process has."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._imported = set(sys.modules)  # before anything of ours is

    @property
    def settings_module(self) -> str:
        """Return the dotted name, or "" where ``settings.configure()`` was called."""
        return os.environ.get("DJANGO_SETTINGS_MODULE", "") if hasattr(settings, "SETTINGS_MODULE") else ""

    @property
    def is_in_a_class(self) -> bool:
        """Tell whether django-configurations makes the settings."""
        return bool(os.environ.get("DJANGO_CONFIGURATION")) and self.settings_module != ""

    @cached_property
    def package(self) -> str:
        """Return the package that holds the settings, the application and the queues; "" where they lie bare."""
        name = self.celery.module if self.celery else self.settings_module or settings.ROOT_URLCONF
        head, dot, _ = name.partition(".")
        return head if dot or self.file_of(name).name == "__init__.py" else ""

    @property
    def package_folder(self) -> Path:
        """Return the folder of the package."""
        return self.file_of(self.package).parent if self.package else self.file_of(self.settings_module).parent

    def dotted(self, name: str) -> str:
        """Return the name of a module of the package."""
        return f"{self.package}.{name}" if self.package else name

    def file_of(self, module: str) -> Path:
        """Return the file of a module that was imported; one that is not there where it has none."""
        found = getattr(sys.modules.get(module), "__file__", None)
        return Path(found).resolve() if found else self.root / "no such module"

    def is_own(self, path: Path) -> bool:
        """Tell whether a file is the project's."""
        return path.is_relative_to(self.root) and not _FOREIGN_FOLDERS & {*path.relative_to(self.root).parts[:-1]}

    # --- Settings ----------------------------------------------------------------------------------------------------

    @cached_property
    def settings_modules(self) -> list[str]:
        """Return the module of the settings and those that it takes everything from, those first."""
        return list(self._with_stars(self.settings_module, set())) if self.settings_module else []

    def _with_stars(self, module: str, seen: set[str]) -> Iterator[str]:
        path = self.file_of(module)
        if module in seen or not self.is_own(path) or (tree := parsed(path)) is None:
            return
        seen.add(module)
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for level, name in stars(tree.body):
            absolute = resolve_name("." * level + name, package) if level else name
            yield from self._with_stars(absolute, seen)
        yield module

    def origin_of(self, setting: str) -> str:
        """Return the module in which a setting begins, and others only add to it; "" where none is to be found."""
        for module in self.settings_modules:
            tree = parsed(self.file_of(module))
            if tree and any(bindings(tree.body, setting)):
                return module
        return ""

    def namespace(self, module: str) -> dict[str, Any]:
        """Return what a module has at its end."""
        return vars(sys.modules[module])

    @cached_property
    def overriding_files(self) -> list[Path]:
        """Return other settings modules beside these, for another environment: they are not loaded here."""
        loaded = {self.file_of(module) for module in self.settings_modules}
        folders = {path.parent for path in loaded if path.parent != self.root}
        return sorted({path for folder in folders for path in folder.glob("*.py") if _takes_stars(path)} - loaded)

    # --- Celery ------------------------------------------------------------------------------------------------------

    @cached_property
    def celery(self) -> CeleryModule | None:
        """Return the Celery application. Raises Unreadable where there are several, and none is the current one."""
        found = [self._celery_module(path, name) for path in self._python_files() for name in _applications(path)]
        if len(found) > 1:
            current = get_current_app()
            found = [one for one in found if one.app is current] or found
        if len(found) > 1:
            places = ", ".join(str(one.path.relative_to(self.root)) for one in found)
            raise Unreadable(f"Expected one Celery application, got several: {places}. Import yours with the settings.")
        return found[0] if found else None

    @property
    def app(self) -> Celery:
        """Return the application; without one of its own, Celery's default, whose settings are all unset."""
        return self.celery.app if self.celery and self.celery.app else get_current_app()

    @property
    def prefix(self) -> str | None:
        """Return what Celery's settings begin with; None where they are not among Django's, or nameless there."""
        celery: Any = self.celery and self.celery.app
        if celery is None:
            return None if self.celery else "CELERY_"
        is_django = celery._config_source in (_DJANGO_SETTINGS, settings)
        return f"{celery.namespace}_" if is_django and celery.namespace else None

    def _celery_module(self, path: Path, variable: str) -> CeleryModule:
        name = self._module_name(path)
        was_imported = name in self._imported
        try:
            module: ModuleType | None = importlib.import_module(name)
        except Exception:  # whatever it does at import is the project's
            module = None
        app = getattr(module, variable, None)
        return CeleryModule(path, name, variable, app if isinstance(app, Celery) else None, was_imported)

    def _module_name(self, path: Path) -> str:
        entries = [Path(entry or ".").resolve() for entry in sys.path]
        below = [entry for entry in entries if path.is_relative_to(entry)]
        parts = path.relative_to(max(below, default=self.root, key=_packages_outside(path))).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _python_files(self) -> Iterator[Path]:
        yield from (path for path in PLANNED if self.is_own(path) and not path.exists())
        for folder, folders, files in os.walk(self.root):
            here = Path(folder)
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".")
                and name not in _FOREIGN_FOLDERS
                and not (here / name / "pyvenv.cfg").exists()
            )
            yield from (here / name for name in sorted(files) if name.endswith(".py"))


def _packages_outside(path: Path) -> Any:
    """Prefer the folder of the outermost package, as Python imports it."""
    package = path.parent
    while (package / "__init__.py").exists():
        package = package.parent
    return lambda entry: (entry == package, -len(entry.parts))


def _applications(path: Path) -> Iterator[str]:
    """Find the names that ``Celery(…)`` is assigned to."""
    tree = parsed(path) if b"Celery(" in raw_of(path) else None
    for statement in tree.body if tree else ():
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(func=called))
            ) if ast.unparse(called).rpartition(".")[2].endswith("Celery"):
                yield name


def _takes_stars(path: Path) -> bool:
    tree = parsed(path)
    return tree is not None and any(stars(tree.body))
