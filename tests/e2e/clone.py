"""A fresh clone: what a stranger would have, were everything that lies here committed."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from baton_dev.project import PROJECT_DIR


def clone_to(directory: Path) -> None:
    """Copy the project's files, and to ``.venv`` the packages that `make run` would install."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=PROJECT_DIR, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (PROJECT_DIR / name).exists():  # else it was deleted, and that is not committed yet
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT_DIR / name, directory / name)
    _copy_packages(directory / ".venv")


def _copy_packages(target: Path) -> None:
    """Copy those of these tests, without what only they need. What `make` downloads is the same."""
    needed, installed = _locked("requirements.lock"), _locked("requirements-dev.lock")
    only_for_tests = _folders(installed - needed) - _folders(needed)
    assert "pytest" in only_for_tests

    def without(directory: str, names: list[str]) -> set[str]:
        return only_for_tests & set(names) if directory.endswith("/site-packages") else set()

    shutil.copytree(sys.prefix, target, symlinks=True, ignore=without, copy_function=_link_or_copy)


def _folders(packages: set[str]) -> set[str]:
    """Return what they have put into `site-packages`; a package that this system does not need put nothing there."""
    found = set()
    for name in packages:
        with suppress(PackageNotFoundError):
            found |= {file.parts[0] for file in distribution(name).files or ()}
    return found


def _link_or_copy(source: str, target: str) -> None:
    """Take no time and no room where the two are on one disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _locked(name: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+)==", (PROJECT_DIR / name).read_text(), re.MULTILINE))
