"""A release as a folder: the wheels of both packages, what they need in locks, what changed and what to do about it.

`make new` takes the wheels from one, and `make upgrade` of a made project asks a newer clone for one.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from baton_dev.new.files import dependencies
from baton_dev.new.lock import Pin, lock_text, normalised, pin_of_wheel, read_lock, reduced

PACKAGES: Final = ("baton-messaging", "baton-dev")
RUN_LOCK, DEV_LOCK = "requirements.lock", "requirements-dev.lock"
HEAD: Final = ("# Versions and hashes; Baton itself is in vendor/. How to change it: README.md.", "--find-links vendor")
#: What stands in a release beside wheels and locks: where it is in the scaffold.
PAGES: Final = {"CHANGELOG.md": "CHANGELOG.md", "UPGRADING.md": "packages/baton-messaging/UPGRADING.md"}
_BUILD: Final = ("-m", "pip", "wheel", "-qq", "--no-deps", "--no-build-isolation", "--no-index")


class CannotBuild(RuntimeError):
    """The wheels could not be built."""


def write_release(scaffold: Path, folder: Path) -> None:
    """Write wheels, locks and pages of this scaffold into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    wheels = build_wheels(scaffold, folder)
    for name, text in locks(scaffold, wheels).items():
        (folder / name).write_text(text)
    for name, place in PAGES.items():
        shutil.copy(scaffold / place, folder / name)


def build_wheels(scaffold: Path, folder: Path) -> list[Path]:
    """Build both packages. The same source is the same wheel, to the byte."""
    before = set(folder.glob("*.whl"))
    packages = [str(scaffold / "packages" / name) for name in PACKAGES]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "946684800")}
    command = [sys.executable, *_BUILD, "--wheel-dir", str(folder), *packages]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise CannotBuild(f"The wheels of Baton cannot be built: {(done.stderr or done.stdout).strip()}")
    return sorted(set(folder.glob("*.whl")) - before)


def locks(scaffold: Path, wheels: Iterable[Path]) -> dict[str, str]:
    """Return the two locks of a made project: what runs it, and what a developer needs beside that."""
    baton = {pin.name: pin for pin in map(pin_of_wheel, wheels)}
    run, dev = (read_lock((scaffold / name).read_text()) for name in (RUN_LOCK, DEV_LOCK))
    named = dependencies(scaffold)
    roots = [name for line in named["project"] if (name := _name_in(line)) not in baton]
    running = reduced(run, [*roots, "psycopg-binary", *_needed_by(run, "baton-messaging")])
    developing = [
        *reduced(run, _needed_by(run, "baton-dev")),
        *reduced(dev, [name for line in named["dev"] if (name := _name_in(line)) not in baton]),
    ]
    only_dev = {str(pin): pin for pin in developing if pin not in running and not _is_in(pin, running)}
    return {
        RUN_LOCK: lock_text([*running, baton["baton-messaging"]], head=HEAD),
        DEV_LOCK: lock_text([*only_dev.values(), baton["baton-dev"]], head=HEAD),
    }


def _needed_by(pins: Iterable[Pin], package: str) -> list[str]:
    return [pin.name for pin in pins if package in pin.needed_by]


def _is_in(pin: Pin, pins: Iterable[Pin]) -> bool:
    return any((normalised(one.name), one.version) == (normalised(pin.name), pin.version) for one in pins)


def _name_in(requirement: str) -> str:
    return normalised(requirement.partition("[")[0].split(">")[0].split("=")[0].split("<")[0].strip())
