"""A fresh clone: what a stranger would have, were everything that lies here committed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.processes import ROOT


def clone_to(directory: Path) -> None:
    """Copy the project's files, and to ``.venv`` the packages that `make run` would install."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():  # else it was deleted, and that is not committed yet
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, directory / name)
    _copy_packages(directory / ".venv")


def _copy_packages(target: Path) -> None:
    """Copy those of these tests, without what only they need. What `make` downloads is the same."""
    shutil.copytree(sys.prefix, target, symlinks=True, copy_function=_link_or_copy)
    only_for_tests = _locked("requirements-dev.lock") - _locked("requirements.lock")
    assert "pytest" in only_for_tests
    subprocess.run(
        [target / "bin/python", "-m", "pip", "uninstall", "-qq", "--yes", *sorted(only_for_tests)], check=True
    )


def _link_or_copy(source: str, target: str) -> None:
    """Take no time and no room where the two are on one disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _locked(name: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+)==", (ROOT / name).read_text(), re.MULTILINE))
