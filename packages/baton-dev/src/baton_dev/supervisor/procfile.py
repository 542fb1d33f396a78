"""The Procfile is read: `name: command`, one process a line."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

WEB, FLOWER = "web", "flower"  # names that have a port in the environment (WEB_PORT, FLOWER_PORT)
_LINE = re.compile(r"(?P<name>[A-Za-z0-9_-]+):\s*(?P<command>.+)")


@dataclass(frozen=True)
class Program:
    """A process to keep running. The command is executed as it stands: no shell expands or survives it."""

    name: str
    command: tuple[str, ...]


def read_procfile(path: Path) -> tuple[Program, ...]:
    """Return the programs in the order of the file."""
    lines = enumerate(path.read_text().splitlines(), start=1)
    return tuple(_program(path, number, line) for number, line in lines if line.strip() and not line.startswith("#"))


def _program(path: Path, number: int, line: str) -> Program:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ValueError(f"{path.name}, line {number}: expected `name: command`, got {line!r}")
    return Program(name=match["name"], command=tuple(shlex.split(match["command"])))
