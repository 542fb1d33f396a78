"""The contracts of import-linter forbid every room of the package that is not public, also one that is new."""

import tomllib
from pathlib import Path
from typing import Any

import baton_messaging
import pytest

#: All that an app's author imports.
PUBLIC = frozenset(
    {
        "consumer",
        "errors",
        "events",
        "extend",
        "middleware",
        "publish",
        "scheduled",
        "signals",
        "tasks_backend",
        "testing",
    }
)
#: What the wiring may have beside that: the table of queues, what Celery needs, the pages and their addresses.
WIRING = frozenset({"conf", "install", "ui", "urls"})

CONTRACTS = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
PACKAGE = Path(baton_messaging.__file__).parent


def modules_of_package() -> set[str]:
    files = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    return files | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def contract_of(source: str) -> dict[str, Any]:
    (found,) = (one for one in CONTRACTS if one["type"] == "forbidden" and source in one["source_modules"])
    return dict(found)


def test_what_is_public_is_there() -> None:
    assert modules_of_package() >= PUBLIC


@pytest.mark.parametrize(
    ("source", "allowed"),
    [(app, PUBLIC) for app in ("orders", "inventory", "notifications")] + [("config", PUBLIC | WIRING)],
)
def test_a_contract_forbids_all_that_is_not_public(source: str, allowed: frozenset[str]) -> None:
    private = {f"baton_messaging.{name}" for name in modules_of_package() - allowed}
    assert set(contract_of(source)["forbidden_modules"]) == private
