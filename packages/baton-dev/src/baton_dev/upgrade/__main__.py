"""`make upgrade`: take a newer Baton into a made project, see what it changes, go back if it will not do.

    python -m baton_dev.upgrade --from ../baton      a clone of Baton, or what `make release` of one has written
    python -m baton_dev.upgrade --back               what was there before

Nothing is migrated: `make run` does that, or `manage.py migrate` of a deployment. Where `check` objects to the project,
or pip cannot install what the locks name, all is put back. Hazard: going back undoes Baton's migrations that the older
version does not have, in the database of this environment; a deployment's is restored from its backup.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from baton_dev.environment import complete_environment
from baton_dev.new.release import DEV_LOCK, PAGES, RUN_LOCK
from baton_dev.project import PROJECT_DIR, environment
from baton_dev.servers.service import try_lock
from baton_dev.upgrade import vendored
from baton_dev.upgrade.pages import since
from baton_dev.upgrade.vendored import NoRelease, wheels_in

_READY: Final = PROJECT_DIR / ".venv" / ".ready"  # the Makefile's stamp: the locks are installed
_REFUSED: Final = 2  # exit code
_PIP: Final = ("-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps", "--no-index")


def main(words: list[str]) -> int:
    """Do what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog="make upgrade", description="Take a newer Baton into this project.")
    parser.add_argument("--from", dest="source", default="", help="a clone of Baton, or a folder of `make release`")
    parser.add_argument("--back", action="store_true", help="go back to what was there before the last upgrade")
    asked = parser.parse_args(words)
    complete_environment()
    try:
        _refuse_while_it_runs()
        return go_back() if asked.back else upgrade(asked.source)
    except NoRelease as error:
        sys.stderr.write(f"{error}\n")
        return _REFUSED


def upgrade(source: str) -> int:
    """Take a release, and examine the project with it."""
    if not source:
        raise NoRelease("FROM: missing. Name a newer clone, as in make upgrade FROM=../baton.")
    with tempfile.TemporaryDirectory() as scratch:
        release = _release_of(Path(source).expanduser().resolve(), Path(scratch))
        old, new = wheels_in(PROJECT_DIR / "vendor"), wheels_in(release)
        if old.pins == new.pins:
            raise NoRelease(f"This project has that Baton already: {old.version}.")
        if new.is_older_than(old):
            raise NoRelease(
                f"{new.version} is older than {old.version}, which this project has. See make upgrade BACK=1."
            )
        _tell_what_changed(release, old.version, new.version)
        vendored.keep(PROJECT_DIR, _kept())
        vendored.replace(PROJECT_DIR, release)
    if _install(anew=old.version == new.version) or _run("baton_dev.upgrade.examination"):
        sys.stderr.write(f"\n{new.version} is not taken: see above. What was there is put back.\n")
        vendored.put_back(PROJECT_DIR, _kept())
        return _install(anew=old.version == new.version) or 1
    sys.stdout.write(
        f"\n{new.version} is in vendor/ and in the locks. `make test`, then `make run` or a deployment: both migrate.\n"
        f"Back to {old.version}: make upgrade BACK=1\n"
    )
    return 0


def go_back() -> int:
    """Undo the migrations that the version before does not have, and put it back."""
    if not _kept().is_dir():
        raise NoRelease(f"There is nothing to go back to: {_kept()} is not there.")
    new, old = wheels_in(PROJECT_DIR / "vendor"), wheels_in(_kept())
    if new.last_migration != old.last_migration and _run("baton_dev.upgrade.examination", old.last_migration):
        sys.stderr.write(f"\nThe tables are {new.version}'s and stay so, and so does all else: see above.\n")
        return 1
    vendored.put_back(PROJECT_DIR, _kept())
    sys.stdout.write(f"\n{old.version} is in vendor/ and in the locks again.\n")
    return _install(anew=old.version == new.version)


def _release_of(source: Path, scratch: Path) -> Path:
    """Return a folder with a release: the source itself, or one that is made of a clone."""
    if not (source / "packages" / "baton-messaging").is_dir():
        return source
    variables = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    made = subprocess.run(["make", "-s", "-C", source, "release", f"DIR={scratch}"], env=variables, check=False)  # noqa: S607
    if made.returncode:
        raise NoRelease(f"`make release` of {source} failed; what it wrote is above.")
    return scratch


def _tell_what_changed(release: Path, old: str, new: str) -> None:
    for name in PAGES:
        page = release / name
        if page.exists() and (text := since(page.read_text(), old)):
            sys.stdout.write(f"=== {name}: from {old} to {new}\n\n{text}\n\n")
    sys.stdout.flush()


def _install(*, anew: bool) -> int:
    """Install what the locks name; a wheel of a version that is installed already is installed over it."""
    code = _run("baton_dev.install", RUN_LOCK, DEV_LOCK)
    if code == 0 and anew:
        wheels = [str(path) for path in (PROJECT_DIR / "vendor").glob("baton_*.whl")]
        code = subprocess.run([sys.executable, *_PIP, "--force-reinstall", *wheels], check=False).returncode
    if code == 0 and _READY.parent.is_dir():
        _READY.touch()
    return code


def _run(module: str, *words: str) -> int:
    """Run a module as it is installed now: this process still has the one of before."""
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", module, *words], cwd=PROJECT_DIR, check=False).returncode


def _kept() -> Path:
    return environment().BATON_STATE_DIR / "upgrade"


def _refuse_while_it_runs() -> None:
    lock = environment().BATON_STATE_DIR / "run.lock"
    if lock.exists():
        with lock.open("a+") as file:
            if not try_lock(file):
                raise NoRelease("Baton runs here. Stop it first: its processes would find other code under them.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
