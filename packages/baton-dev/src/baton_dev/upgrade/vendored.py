"""Wheels and locks that a project holds: replaced by those of a release, kept beside, and put back.

Invariant: what was there is kept before anything is replaced (``var/upgrade``), and a lock never names a wheel that is
not there for longer than the two renames take. What a project has locked itself stays.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from zipfile import ZipFile

from packaging.version import Version

from baton_dev.new.lock import Pin, lock_text, merged, pin_of_wheel, read_lock
from baton_dev.new.release import DEV_LOCK, HEAD, PACKAGES, RUN_LOCK

_LOCKS: Final = (RUN_LOCK, DEV_LOCK)
_MIGRATIONS: Final = "baton_messaging/migrations/"


class NoRelease(ValueError):
    """A folder is no release of Baton; the message is one sentence for the person at the keyboard."""


@dataclass(frozen=True)
class Wheels:
    """The wheels of both packages in a folder."""

    folder: Path
    pins: tuple[Pin, ...]

    @property
    def version(self) -> str:
        """Return the version of both."""
        return self.pins[0].version

    def is_older_than(self, other: Self) -> bool:
        """Tell whether these are of an earlier version."""
        return Version(self.version) < Version(other.version)

    @property
    def last_migration(self) -> str:
        """Return the name of the last migration in there."""
        (wheel,) = self.folder.glob("baton_messaging-*.whl")
        with ZipFile(wheel) as content:
            names = [name.removeprefix(_MIGRATIONS) for name in content.namelist() if name.startswith(_MIGRATIONS)]
        return max(name.removesuffix(".py") for name in names if name[:4].isdecimal())


def wheels_in(folder: Path) -> Wheels:
    """Return the wheels in a folder. Raises NoRelease unless there is one of each package, of the same version."""
    pins = tuple(pin_of_wheel(wheel) for wheel in sorted(folder.glob("baton_*.whl"), reverse=True))
    if sorted(pin.name for pin in pins) != sorted(PACKAGES) or len({pin.version for pin in pins}) != 1:
        raise NoRelease(f"{folder} has not one wheel of each of {' and '.join(PACKAGES)}, of the same version.")
    return Wheels(folder, pins)


def keep(project: Path, kept: Path) -> None:
    """Keep the wheels and locks that are there."""
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for path in [*(project / "vendor").glob("baton_*.whl"), *(project / name for name in _LOCKS)]:
        shutil.copy2(path, kept)


def replace(project: Path, release: Path) -> None:
    """Put a release's wheels in the place of those that are there, and merge its locks with the project's."""
    wheels = wheels_in(release)
    for name in _LOCKS:
        ours = [pin for pin in read_lock((project / name).read_text()) if pin.name not in PACKAGES]
        newer = [pin for pin in read_lock((release / name).read_text()) if pin.name not in PACKAGES]
        baton = [pin for pin in wheels.pins if (pin.name == "baton-dev") == (name == DEV_LOCK)]
        _write(project / name, lock_text([*merged(ours, newer), *baton], head=HEAD))
    _replace_wheels(project, release)


def put_back(project: Path, kept: Path) -> None:
    """Put back what was kept."""
    for name in _LOCKS:
        _write(project / name, (kept / name).read_text())
    _replace_wheels(project, kept)


def _replace_wheels(project: Path, source: Path) -> None:
    names = {wheel.name for wheel in source.glob("baton_*.whl")}
    for name in names:
        shutil.copy(source / name, project / "vendor" / name)
    for wheel in (project / "vendor").glob("baton_*.whl"):
        if wheel.name not in names:
            wheel.unlink()


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.new")
    draft.write_text(text)
    draft.replace(path)
