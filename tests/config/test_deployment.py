"""A deployment does without baton_dev, which is in the extra `embedded`."""

import ast
from collections.abc import Iterator
from pathlib import Path

from baton_dev.project import PROJECT_DIR

from tests.config.test_samples_are_replaceable import SAMPLES

DEPLOYED = ("config", *SAMPLES, "packages/baton-messaging/src")
FOR_DEVELOPERS = "orders/demo"


def deployed_modules() -> Iterator[Path]:
    yield PROJECT_DIR / "manage.py"
    for folder in DEPLOYED:
        for path in (PROJECT_DIR / folder).rglob("*.py"):
            if not path.is_relative_to(PROJECT_DIR / FOR_DEVELOPERS):
                yield path


def imported_by(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield module


def test_nothing_that_is_deployed_imports_baton_dev() -> None:
    importing = {
        str(path.relative_to(PROJECT_DIR))
        for path in deployed_modules()
        for module in imported_by(path)
        if module.partition(".")[0] == "baton_dev"
    }
    assert importing == set()
