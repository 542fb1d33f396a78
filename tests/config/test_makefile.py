"""The Makefile's first words: a Python that will not do is refused in one line, by its name and version."""

import shutil
import subprocess
from pathlib import Path

import pytest
from baton_dev.project import PROJECT_DIR

ALL = "-n 5 --dist loadfile"
#: A Python that writes down where it is to run which tests; those of baton-dev fail.
PYTHON = """#!/bin/sh
[ "$1" = -m ] || { echo 3.11; exit; }
shift 2
echo "$PWD: $*" >> $RUNS
! test "${PWD##*/}" = baton-dev
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("Makefile", "requirements.lock", "requirements-dev.lock"):
        shutil.copy(PROJECT_DIR / name, tmp_path)
    for package in ("baton-messaging", "baton-dev"):
        (tmp_path / "packages" / package).mkdir(parents=True)
        shutil.copy(PROJECT_DIR / "packages" / package / "pyproject.toml", tmp_path / "packages" / package)
    return tmp_path


def make(checkout: Path, target: str, *, python3: str) -> subprocess.CompletedProcess[str]:
    """Run make with a `python3` that is the given shell script."""
    folder = checkout / "bin"
    folder.mkdir()
    (folder / "python3").write_text(f"#!/bin/sh\n{python3}\n")
    (folder / "python3").chmod(0o755)
    return subprocess.run(
        ["make", target],
        cwd=checkout,
        env={"PATH": f"{folder}:/usr/bin:/bin"},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def complaint(result: subprocess.CompletedProcess[str]) -> str:
    """Return the line beside make's own, and see that there is but one."""
    (line,) = (line for line in result.stderr.splitlines() if not line.startswith("make"))
    assert result.returncode == 2
    return line


@pytest.mark.parametrize("target", ["run", "test", "demo", "lint"])
def test_an_old_python_is_refused(checkout: Path, target: str) -> None:
    result = make(checkout, target, python3='test "$1" = -V && echo "Python 3.9.2"; exit 1')

    assert complaint(result).startswith("Baton needs Python 3.11, 3.12 or 3.13, but `python3` is: Python 3.9.2.")
    assert not (checkout / ".venv").exists()


def test_a_python_without_venv_is_refused(checkout: Path) -> None:
    result = make(checkout, "run", python3='case "$2" in *ensurepip*) exit 1;; esac')

    assert complaint(result).startswith("Baton needs Python's module venv, which `python3` lacks")
    assert not (checkout / ".venv").exists()


def test_help_lists_every_target_that_people_type(checkout: Path) -> None:
    result = make(checkout, "help", python3="exit 1")

    assert [line.split()[1] for line in result.stdout.splitlines()] == [
        *("help", "run", "manage", "reset", "test", "demo", "bench", "blame", "new", "release", "lint"),
    ]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], [("packages/baton-messaging", ALL), ("packages/baton-dev", ALL), (".", ALL)]),
        (["SUITE=packages/baton-dev"], [("packages/baton-dev", ALL)]),
        (["ARGS=tests/orders -x"], [(".", "tests/orders -x")]),
        (["SUITE=packages/baton-messaging", "ARGS=-k x"], [("packages/baton-messaging", "-k x")]),
    ],
)
def test_each_suite_runs_in_its_folder_and_all_are_run_though_one_fails(
    checkout: Path, words: list[str], wanted: list[tuple[str, str]]
) -> None:
    (checkout / ".venv" / "bin").mkdir(parents=True)
    python = checkout / ".venv" / "bin" / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    for stamp in ("python", "run", "dev"):
        (checkout / ".venv" / f".{stamp}-ready").touch()
    runs = checkout / "runs"
    environment = {"PATH": "/usr/bin:/bin", "RUNS": str(runs)}
    done = subprocess.run(["make", "test", *words], cwd=checkout, env=environment, check=False, capture_output=True)
    assert runs.read_text().splitlines() == [f"{(checkout / folder).resolve()}: {words}" for folder, words in wanted]
    assert bool(done.returncode) == any(folder.endswith("baton-dev") for folder, _words in wanted)
