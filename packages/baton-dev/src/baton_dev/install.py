"""Installation of packages by pip, with something to see while it works: what it is at, and for how long.

    python -m baton_dev.install requirements.lock requirements-dev.lock [-- further options of pip]

On a terminal one line moves; elsewhere a line follows at least every ten seconds. What pip says is shown when it fails.
Runs before anything is installed, so it imports nothing but Python's own.
"""

import os
import re
import selectors
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Final

_PIP: Final = ("-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", "--require-hashes")
_TICK_SECONDS: Final = 0.5  # on a terminal
_LINE_SECONDS: Final = 10.0  # elsewhere
_SHOWN_LINES: Final = 30  # of pip's last words, when it fails
_STEPS: Final = (
    (
        re.compile(r"(?:Collecting|Processing|Ignoring) (?:\S*/)?(?P<what>[\w.-]+)"),
        "fetching {what}, {count} of {total}",
    ),
    (re.compile(r"Installing collected packages"), "unpacking"),
)


class Progress:
    """What is shown while pip works."""

    def __init__(self, out: IO[str], *, total: int) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._total = total
        self._count = 0
        self._step = "starting"
        self._began = self._shown = time.monotonic()

    def hear(self, line: str) -> None:
        """Take note of a line of pip's."""
        for pattern, text in _STEPS:
            if found := pattern.match(line):
                self._count = min(self._total, self._count + ("what" in found.groupdict()))
                self._step = text.format(**found.groupdict(), count=self._count, total=self._total)

    def show(self) -> None:
        """Show where pip is, if it is time to."""
        now = time.monotonic()
        if now - self._shown < (_TICK_SECONDS if self._is_terminal else _LINE_SECONDS):
            return
        self._shown = now
        text = f"  {now - self._began:3.0f} s  {self._step}"
        self._write(f"\r\x1b[2K{text}" if self._is_terminal else f"{text}\n")

    def end(self) -> None:
        """Leave a clean line, with how long it took."""
        text = f"  {time.monotonic() - self._began:3.0f} s  installed"
        self._write(f"\r\x1b[2K{text}\n" if self._is_terminal else f"{text}\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def install(locks: list[str], options: list[str]) -> int:
    """Install what the locks name; return pip's exit code."""
    total = sum(len(re.findall(r"^[A-Za-z0-9]", Path(lock).read_text(), re.MULTILINE)) for lock in locks)
    sys.stdout.write(f"Installing the packages of {' and '.join(locks)}: once, for a minute or so.\n")
    progress = Progress(sys.stdout, total=total)
    arguments = [argument for lock in locks for argument in ("-r", lock)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    environment.pop("PYTHONPATH", None)  # ours, which leads to this module
    command = [sys.executable, *_PIP, *arguments, *options]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as pip:
        said = _follow(pip, progress)
    progress.end() if pip.returncode == 0 else _tell(said)
    return pip.returncode


def _follow(pip: subprocess.Popen[bytes], progress: Progress) -> list[str]:
    """Show what happens until pip has ended; return what it said."""
    lines: list[str] = []
    rest = b""
    assert pip.stdout is not None  # noqa: S101 - a pipe was asked for
    with selectors.DefaultSelector() as selector:
        selector.register(pip.stdout, selectors.EVENT_READ)
        while True:
            news = os.read(pip.stdout.fileno(), 65_536) if selector.select(_TICK_SECONDS) else None
            if news == b"":
                return lines
            *whole, rest = (rest + (news or b"")).split(b"\n")
            for line in whole:
                lines.append(line.decode(errors="replace"))
                progress.hear(lines[-1].strip())
            progress.show()


def _tell(lines: list[str]) -> None:
    sys.stderr.write("\n" + "\n".join(lines[-_SHOWN_LINES:]) + "\n")


def main(words: list[str]) -> int:
    """Read the command line: locks, and behind ``--`` further options."""
    end = words.index("--") if "--" in words else len(words)
    try:
        return install(words[:end], words[end + 1 :])
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130  # as a shell says of SIGINT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
