"""baton-messaging's README tells a bare project all that it needs: ``manage.py check`` objects to nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

README = ROOT / "packages" / "baton-messaging" / "README.md"
BLOCK = re.compile(r"^```python\n# (\w+/\w+\.py)(, with pages)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("with_pages", [False, True])
def test_a_bare_project_that_follows_the_readme_passes_the_checks(with_pages: bool, tmp_path: Path) -> None:
    run(tmp_path, "-m", "django", "startproject", "mysite", ".")
    settings = tmp_path / "mysite" / "settings.py"
    settings.write_text(settings.read_text().replace("backends.sqlite3", "backends.postgresql"))
    blocks = BLOCK.findall(README.read_text())
    assert len(blocks) > 7
    for name, of_pages, code in blocks:
        if with_pages or not of_pages:
            add(tmp_path / name, code)
    assert run(tmp_path, "manage.py", "check", "--fail-level", "WARNING") == (
        "System check identified no issues (0 silenced).\n"
    )


def add(file: Path, code: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.parent.joinpath("__init__.py").touch()
    with file.open("a") as module:
        module.write(code)


def run(folder: Path, *words: str) -> str:
    """Run Python in a folder, without what the tests have set for this project."""
    ours = ("DJANGO_", "CELERY_", "BATON_", "DATABASE_URL")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    result = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
