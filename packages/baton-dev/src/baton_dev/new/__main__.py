"""`make new`: make a project of one's own, in a folder beside the scaffold.

python -m baton_dev.new --dir ../billing --name billing --app invoices
python -m baton_dev.new --release DIR     the wheels, locks and pages that `make upgrade` of a made project takes

Nothing is written when a name or the folder cannot be: the project is made in a folder beside it, and then renamed.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from baton_dev.new.files import project_files
from baton_dev.new.names import BadName, check_name
from baton_dev.new.release import CannotBuild, build_wheels, locks, write_release
from baton_dev.project import PROJECT_DIR

_EXECUTABLE: Final = ("manage.py", ".ci/run")
_REFUSED: Final = 2  # exit code


class BadFolder(ValueError):
    """A folder that a project cannot be made in; the message is one sentence for the person at the keyboard."""


def main(words: list[str]) -> int:
    """Do what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog="make new", description="Make a project of your own.")
    parser.add_argument("--dir", default="")
    parser.add_argument("--name", default="")
    parser.add_argument("--app", default="")
    parser.add_argument("--release", default="", help="write wheels, locks and pages into this folder instead")
    asked = parser.parse_args(words)
    try:
        if asked.release:
            write_release(PROJECT_DIR, Path(asked.release).expanduser().resolve())
            return 0
        make(asked.dir, project=asked.name, app=asked.app)
    except (BadName, BadFolder, CannotBuild) as error:
        sys.stderr.write(f"{error}\n")
        return _REFUSED
    sys.stdout.write(
        f"{asked.name} is made. Next: cd {shlex.quote(asked.dir)} && git init && make run\n"
        "Then open http://127.0.0.1:8000/ and add an entry. docs/start.md tells what comes after that.\n"
    )
    return 0


def make(directory: str, *, project: str, app: str) -> None:
    """Make a project. Raises BadName, BadFolder or CannotBuild, and has written nothing then."""
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *_source_folders()]
    check_name("NAME", project, search=folders)
    check_name("APP", app, search=folders)
    if not directory:
        raise BadFolder("DIR: missing. Name it as in make new DIR=../billing NAME=billing APP=invoices.")
    with _folder_that_appears(Path(directory).expanduser().resolve()) as folder:
        write_project(folder, project=project, app=app)


def write_project(folder: Path, *, project: str, app: str) -> None:
    """Write all files into an empty folder."""
    for name, text in project_files(PROJECT_DIR, project=project, app=app).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in _EXECUTABLE:
        (folder / name).chmod(0o755)
    vendor = folder / "vendor"
    vendor.mkdir()
    for name, text in locks(PROJECT_DIR, build_wheels(PROJECT_DIR, vendor)).items():
        (folder / name).write_text(text)
    (folder / ".env.example").write_text(_example(folder))


@contextmanager
def _folder_that_appears(target: Path) -> Iterator[Path]:
    """Give an empty folder that becomes the target at the end, whole; after an error there is nothing."""
    _refuse(target)
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise BadFolder(f"DIR: {target} cannot be written ({error.strerror}).") from None
    try:
        yield draft
        draft.chmod(0o755)
        draft.rename(target)  # over an empty folder, too; not over one that has been filled meanwhile
    except OSError as error:
        raise BadFolder(f"DIR: {target} cannot be written ({error}).") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _refuse(target: Path) -> None:
    try:
        if target.exists() and not target.is_dir():
            raise BadFolder(f"DIR: {target} is there, and is no folder.")
        if target.is_dir() and any(target.iterdir()):
            raise BadFolder(f"DIR: {target} is not empty. Name a folder that is not there yet.")
        if not target.parent.is_dir():
            raise BadFolder(f"DIR: {target.parent} is no folder. Create it first.")
    except OSError as error:
        raise BadFolder(f"DIR: {target} cannot be read ({error.strerror}).") from None


def _source_folders() -> list[str]:
    """Return where packages are that were installed in place."""
    return [str(path) for path in (PROJECT_DIR / "packages").glob("*/src")]


def _example(folder: Path) -> str:
    """Return the text of `.env.example`, from the made project's own variables."""
    code = (PROJECT_DIR / "config/env/example.py").read_text()
    variables = {"PATH": os.environ.get("PATH", ""), "DJANGO_DEBUG": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
