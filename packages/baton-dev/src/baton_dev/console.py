"""The console shows on one screen what many processes write: `name | line`.

Supervisord keeps a log file for each process; this follows them. What supervisord says about a process (its own log)
is shown in plain words under the name of that process.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import IO

from baton_dev.supervisor.supervisor import RETRY_SECONDS

READ_BYTES = 65_536  # per file and round, so that a chatty process cannot hide the others
COLOURS = (36, 32, 33, 35, 34, 96, 92, 93, 95, 94)  # of the terminal's palette, readable on dark and light
OWN_NAME = "baton"

# What supervisord writes, and what it means. An empty text hides the line.
EVENTS: tuple[tuple[str, str], ...] = (
    (r"spawned: '(?P<name>\S+)' with pid (?P<pid>\d+)", "started (pid {pid})"),
    (r"exited: (?P<name>\S+) \(terminated by (?P<signal>\w+).*", "was killed by {signal}; it is started again"),
    (r"exited: (?P<name>\S+) \(exit status (?P<status>\d+).*", "ended with exit status {status}; it is started again"),
    (r"gave up: (?P<name>\S+) entered FATAL state.*", f"keeps failing; next try in {RETRY_SECONDS} s"),
    (r"spawnerr: (?P<reason>.*)", "could not start a process: {reason}"),
    (r"stopped: (?P<name>\S+) \(.*", "stopped"),
    (r"killing '(?P<name>\S+)' \((?P<pid>\d+)\) with SIGKILL", "did not stop in time and was killed (pid {pid})"),
)
_LOG_LINE = re.compile(r"[\d-]+ [\d:,]+ [A-Z]+ (?P<message>.*)")


class Console:
    """The screen. Lines of one process keep their order; those of different processes may be 0.1 s out of order."""

    def __init__(
        self, log_dir: Path, names: Iterable[str], *, silent: Iterable[str] = (), out: IO[str] | None = None
    ) -> None:
        """Show `names` with all that they write, and of the `silent` ones only when they start and end."""
        names = tuple(names)
        self._out = out or sys.stdout
        self._width = max(len(name) for name in (*names, *silent, OWN_NAME))
        self._colours = dict(zip(names, COLOURS * len(names), strict=False)) if _wants_colour(self._out) else {}
        self._followed = {name: _LogFile(log_dir / f"{name}.log") for name in names}
        self._supervisor = _LogFile(log_dir / "supervisord.log")
        self.is_closed = False

    def show_news(self) -> None:
        """Print what has been written since the last call."""
        for name, log_file in self._followed.items():
            for line in log_file.new_lines():
                self.show(name, line)
        for line in self._supervisor.new_lines():  # after the last words of those that have ended
            self._show_event(line)

    def say(self, text: str) -> None:
        """Print lines of our own."""
        for line in text.splitlines():
            self.show(OWN_NAME, line)

    def show(self, name: str, line: str) -> None:
        """Print one line under a name."""
        label = f"{name:<{self._width}} |"
        if name in self._colours:
            label = f"\x1b[{self._colours[name]}m{label}\x1b[0m"
        try:
            self._out.write(f"{label} {line}\n")
            self._out.flush()
        except BrokenPipeError:  # nobody reads us any more, as in `make run | head`
            self.is_closed = True
            self._out = StringIO()

    def close(self) -> None:
        """Close the log files."""
        for log_file in (self._supervisor, *self._followed.values()):
            log_file.close()

    def _show_event(self, line: str) -> None:
        logged = _LOG_LINE.fullmatch(line)
        for pattern, text in EVENTS if logged else ():
            if match := re.fullmatch(pattern, logged["message"]):  # type: ignore[index]
                values = match.groupdict()
                self.show(values.pop("name", OWN_NAME), text.format(**values))


class _LogFile:
    """A file that grows and is renamed when it is large. What it held before is old and not shown."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = self._open()
        if self._file is not None:
            self._file.seek(0, os.SEEK_END)
        self._rest = b""

    def new_lines(self) -> Iterator[str]:
        if self._file is None:
            self._file = self._open()
        if self._file is None:
            return
        *lines, self._rest = (self._rest + self._read(self._file)).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace").rstrip("\r")

    def _read(self, file: IO[bytes]) -> bytes:
        news = file.read(READ_BYTES)
        if not news and self._was_renamed(file):
            self.close()
        return news

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _was_renamed(self, file: IO[bytes]) -> bool:
        try:
            return self._path.stat().st_ino != os.fstat(file.fileno()).st_ino
        except FileNotFoundError:
            return False

    def _open(self) -> IO[bytes] | None:
        try:
            return self._path.open("rb")
        except FileNotFoundError:
            return None


def _wants_colour(out: IO[str]) -> bool:
    return out.isatty() and "NO_COLOR" not in os.environ
