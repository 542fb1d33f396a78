"""Lock files with hashes: read, reduced to what a project needs, merged with a newer one, and written.

A requirement is one line: ``name==version ; marker --hash=sha256:…``. What each is needed by stands behind ``# via``,
as uv and pip-tools write it; so a part of a lock is a lock again, without asking an index.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.version import Version

_BEGINNING: Final = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[^\s;]+)\s*(?:;\s*(?P<marker>[^#]*?))?\s*(?:--hash|\\|$)"
)
_HASH: Final = re.compile(r"--hash=(\S+)")
_VIA: Final = re.compile(r"^\s*#\s+(?:via\s+)?(?P<by>[\w.-]+)(?:\s+\(.*\))?$", re.MULTILINE)


@dataclass(frozen=True)
class Pin:
    """One version of a package: where it counts, what it may be, who needs it."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    needed_by: frozenset[str] = frozenset()

    def __str__(self) -> str:
        """Return the line."""
        marker = f" ; {self.marker}" if self.marker else ""
        return " ".join([f"{self.name}=={self.version}{marker}", *(f"--hash={one}" for one in self.hashes)])


def read_lock(text: str) -> list[Pin]:
    """Return the pins of a lock, of one line each or of many. Options (``--find-links``) are left out."""
    pins = []
    for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE):
        if match := _BEGINNING.match(block):
            marker = (match["marker"] or "").strip()
            needed_by = frozenset(found["by"] for found in _VIA.finditer(block)) - {"via"}
            pins.append(Pin(match["name"], match["version"], marker, tuple(_HASH.findall(block)), needed_by))
    return pins


def reduced(pins: Iterable[Pin], roots: Iterable[str]) -> list[Pin]:
    """Return what the roots need, and they themselves. Raises LookupError for a root that is not there."""
    pins, needed = list(pins), {normalised(name) for name in roots}
    if lost := needed - {normalised(pin.name) for pin in pins}:
        raise LookupError(f"Expected {', '.join(sorted(lost))} in the lock, found no such line.")
    before: set[str] = set()
    while needed != before:
        before = set(needed)
        needed |= {normalised(pin.name) for pin in pins if needed & {normalised(by) for by in pin.needed_by}}
    return [pin for pin in pins if normalised(pin.name) in needed]


def merged(ours: Iterable[Pin], newer: Iterable[Pin]) -> list[Pin]:
    """Return our pins, each as new as in the other lock, with those that only the other has.

    What a project has added itself stays; what it has at a later version than Baton has, too.
    """
    mine, theirs = _by_name(ours), _by_name(newer)
    kept = {name: pins for name, pins in mine.items() if name not in theirs or _newest(pins) > _newest(theirs[name])}
    return [pin for _name, pins in sorted({**theirs, **kept}.items()) for pin in pins]


def lock_text(pins: Iterable[Pin], *, head: Iterable[str] = ()) -> str:
    """Return the text of a lock, one requirement a line."""
    return "\n".join([*head, *(str(pin) for pin in sorted(pins, key=lambda pin: normalised(pin.name)))]) + "\n"


def pin_of_wheel(wheel: Path) -> Pin:
    """Return the pin of a wheel in a folder that pip is told to look into."""
    name, version = wheel.name.split("-")[:2]
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Pin(name.replace("_", "-"), version, "", (f"sha256:{digest}",))


def normalised(name: str) -> str:
    """Return a package's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _by_name(pins: Iterable[Pin]) -> Mapping[str, list[Pin]]:
    found: dict[str, list[Pin]] = {}
    for pin in pins:
        found.setdefault(normalised(pin.name), []).append(pin)
    return found


def _newest(pins: Iterable[Pin]) -> Version:
    return max(Version(pin.version) for pin in pins)
