"""The sample apps are there to be replaced: what is everybody's neither imports nor names one of them.

Deleting a sample means its folder, its tests, and the lines that name it in the wiring (docs/replace-the-samples.md).
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from baton_dev.project import PROJECT_DIR

SAMPLES = ("orders", "inventory", "notifications")
#: What ties the samples into the project, and so may name them.
WIRING = {
    "config/api.py",
    "config/queues.py",
    "config/settings/base.py",
    "config/settings/samples.py",
    "config/urls.py",
}
GENERIC = ("config", "packages/baton-messaging/src", "packages/baton-dev/src")


def generic_modules() -> Iterator[Path]:
    for folder in GENERIC:
        for path in sorted((PROJECT_DIR / folder).rglob("*.py")):
            if str(path.relative_to(PROJECT_DIR)) not in WIRING:
                yield path


def samples_in(path: Path) -> set[str]:
    """Return the samples that a module imports, or names in a text that is a dotted name, an address or a path."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                found |= {alias.name.partition(".")[0] for alias in names}
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module.partition(".")[0])
            case ast.Constant(value=str(text)) if re.fullmatch(r"[\w./:@-]+", text):
                found |= set(re.split(r"[./:@-]", text))
    return found & set(SAMPLES)


@pytest.mark.parametrize("folder", GENERIC)
def test_no_module_that_is_not_wiring_knows_a_sample(folder: str) -> None:
    modules = [path for path in generic_modules() if path.is_relative_to(PROJECT_DIR / folder)]
    assert len(modules) > 10
    knowing = {str(path.relative_to(PROJECT_DIR)): samples for path in modules if (samples := samples_in(path))}
    assert knowing == {}


def test_each_module_of_the_wiring_knows_a_sample() -> None:
    assert {path for path in WIRING if not samples_in(PROJECT_DIR / path)} == set()


def test_no_other_page_needs_an_address_of_a_sample() -> None:
    for template in (PROJECT_DIR / "templates").glob("*.html"):
        for tag in re.findall(r"{%.*?%}", template.read_text()):
            names_a_sample = re.search(r"['\"](orders|exports|inventory|notifications)[:/]", tag)
            assert not names_a_sample or " as " in tag, f"{template.name}: {tag}"  # `as`: empty where there is none


@pytest.mark.parametrize("deleted", [("notifications",), SAMPLES], ids="+".join)
def test_the_project_holds_together_without_samples(deleted: tuple[str, ...], tmp_path: Path) -> None:
    copy_without(deleted, tmp_path)
    check = "check --fail-level WARNING"
    page = "from django.test import Client; c = Client(HTTP_HOST='localhost'); "
    page += "print(*[c.get(a).status_code for a in ('/login/', '/nowhere')])"
    assert manage(tmp_path, *check.split()).stdout == "System check identified no issues (0 silenced).\n"
    assert manage(tmp_path, "shell", "--no-imports", "-c", page).stdout.split()[-2:] == ["200", "404"]


def copy_without(deleted: tuple[str, ...], target: Path) -> None:
    """Copy the project, and do what deleting these samples takes: a line of the wiring that names one goes with it."""
    for path in PROJECT_DIR.iterdir():
        if path.is_file():
            shutil.copy(path, target)  # Python looks for modules beside the file that a link leads to
        elif path.name not in {*deleted, "config"} and not path.name.startswith("."):
            (target / path.name).symlink_to(path)
    named = re.compile(rf"(?<![a-z])({'|'.join(deleted)})(?![a-z])", re.IGNORECASE)
    for source in (PROJECT_DIR / "config").rglob("*.py"):
        copied = target / source.relative_to(PROJECT_DIR)
        copied.parent.mkdir(parents=True, exist_ok=True)
        is_wiring = str(source.relative_to(PROJECT_DIR)) in WIRING
        lines = source.read_text().splitlines(keepends=True)
        copied.write_text("".join(line for line in lines if not (is_wiring and named.search(line))))
    if set(deleted) == set(SAMPLES):
        (target / "config/settings/samples.py").write_text("")


def manage(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(directory)}
    result = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=directory,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    return result
