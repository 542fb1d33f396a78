"""A triage client asks one process all questions, behind the same proxies as the system.

So what is measured is the answer, not the start of a Python interpreter on a busy machine.
"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any
from uuid import uuid4

from baton_dev.blame.stack import Stack
from baton_dev.project import PROJECT_DIR
from baton_dev.supervisor.tether import tethered


class TriageClient:
    """The process, from our side."""

    def __init__(self, stack: Stack) -> None:
        self._process = subprocess.Popen(
            tethered([sys.executable, "-m", "baton_dev.blame.triage_server"], signal.SIGKILL),
            cwd=PROJECT_DIR,
            env={**os.environ, **stack.environment()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == "ready\n"
        self.ask(str(uuid4()))  # the first answer also imports

    def ask(self, subject_id: str) -> tuple[float, dict[str, Any]]:
        """Return how many seconds the answer took, and the report."""
        assert self._process.stdin
        assert self._process.stdout
        started = time.monotonic()
        self._process.stdin.write(f"{subject_id}\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return time.monotonic() - started, answer

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
