"""A client asks one process all questions, behind the same proxies as the system.

So what is measured is the answer, not the start of a Python interpreter on a busy machine.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import IO, Any
from uuid import uuid4

from baton_dev.blame.stack import Stack
from baton_dev.project import PROJECT_DIR
from baton_dev.supervisor.tether import tethered


@dataclass(frozen=True)
class Said:
    """What a view answered, in how many seconds. ``error``: what it raised instead."""

    seconds: float
    report: Any = None
    code: int = 0
    error: str = ""


class Client:
    """The process, from our side."""

    def __init__(self, stack: Stack) -> None:
        with (stack.folder / "views.log").open("ab") as log:
            self._process = self._start(stack, log)
        assert self._process.stdout
        assert self._process.stdout.readline() == "ready\n"
        for view, words in (("triage", [str(uuid4())]), ("doctor", [])):
            self.ask(view, *words)  # the first answer also imports

    def _start(self, stack: Stack, log: IO[bytes]) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            tethered([sys.executable, "-m", "baton_dev.blame.views"], signal.SIGKILL),
            cwd=PROJECT_DIR,
            env={**os.environ, **stack.environment()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )

    def ask(self, view: str, *words: str) -> Said:
        """Ask one view."""
        assert self._process.stdin
        assert self._process.stdout
        started = time.monotonic()
        self._process.stdin.write(json.dumps({"view": view, "words": words}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        seconds = time.monotonic() - started
        return Said(seconds, answer.get("said"), answer.get("code", 0), answer.get("error", ""))

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
