"""The packages stand on their own: nothing of them, nor of their tests, needs the project that they lie in."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from baton_dev.project import PROJECT_DIR

APPS = ("orders", "inventory", "notifications")
PROJECT = {"config", "benchmarks", *APPS}
WORD = re.compile(rf"\b({'|'.join(APPS)})\b")
PACKAGES = sorted(path.parent for path in (PROJECT_DIR / "packages").glob("*/pyproject.toml"))


def modules(folder: Path) -> list[Path]:
    found = [path for path in folder.rglob("*.py") if "dummy_project" not in path.parts]  # has a config of its own
    assert len(found) > 5
    return found


def imported(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
@pytest.mark.parametrize("folder", ["src", "tests"])
def test_no_module_of_a_package_imports_the_project(package: Path, folder: str) -> None:
    wrong = [
        f"{module.relative_to(PROJECT_DIR)} imports {name}"
        for module in modules(package / folder)
        for name in imported(module)
        if name.partition(".")[0] in PROJECT
    ]
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_no_test_of_a_package_names_a_sample_app_of_the_project(package: Path) -> None:
    """By name, too: of a queue, a consumer, a page."""
    assert [module for module in modules(package / "tests") if WORD.search(module.read_text())] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_wheel_holds_the_package_and_its_licence_and_nothing_else(package: Path, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "-w", str(tmp_path), str(package)], check=True)
    (path,) = tmp_path.iterdir()
    with ZipFile(path) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (licence,) = (wheel.read(name) for name in wheel.namelist() if name.endswith("/licenses/LICENSE"))
    source = package / "src"
    files = [file for file in source.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    assert inside == {file.relative_to(source).as_posix() for file in files}
    assert licence == (PROJECT_DIR / "LICENSE").read_bytes()


def test_every_folder_of_tests_is_a_package() -> None:
    """A folder without `__init__.py` makes its own folders top-level ones: `statistics` stands before Python's then."""
    suites = [PROJECT_DIR / "tests", *(package / "tests" for package in PACKAGES)]
    found = [(suite, module) for suite in suites for module in modules(suite)]
    folders = {folder for suite, module in found for folder in module.parents if folder.is_relative_to(suite)}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_repository_and_packages_have_one_version() -> None:
    files = [PROJECT_DIR / "pyproject.toml", *(package / "pyproject.toml" for package in PACKAGES)]
    assert len({tomllib.loads(file.read_text())["project"]["version"] for file in files}) == 1
