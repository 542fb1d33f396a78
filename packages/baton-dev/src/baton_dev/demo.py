"""The engine of `make demo` runs the whole stack as a child process, read through the banner that a person would read.

What is done with the stack, and what must come of it, is a program of the project's own.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from baton_dev.project import PROJECT_DIR
from baton_dev.supervisor.tether import tethered

START_SECONDS = 180  # longer than the run itself waits for its programs
STOP_SECONDS = 90
POLL_SECONDS = 0.1
ADDRESS = re.compile(r"Site\s+(http://\S+?)/\s")
KILL = re.compile(r"kill -9 (\d+)`")


class DemoStack:
    """As a context manager: up at the start, drained at the end."""

    def __init__(self) -> None:
        self.address = ""
        self._log = PROJECT_DIR / os.environ["BATON_STATE_DIR"] / "demo.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as out:
            command = tethered([sys.executable, "-m", "baton_dev.run"])
            self._process = subprocess.Popen(command, cwd=PROJECT_DIR, stdout=out, stderr=out, start_new_session=True)
        deadline = time.monotonic() + START_SECONDS
        while not (found := ADDRESS.search(self._output())):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._stop()
                sys.exit(
                    f"Expected the stack to start, and it did not. Its last lines, from {self._log}:\n{self._tail()}"
                )
            time.sleep(POLL_SECONDS)
        self.address = found[1]
        return self

    def __exit__(self, *_: object) -> None:
        print("Stopping; running tasks finish first …", flush=True)
        self._stop()

    def kill_worker(self) -> int:
        """Do what the banner dares people to do; return the pid."""
        found = KILL.search(self._output())
        if found is None:
            sys.exit(f"Expected the banner to name a worker to kill; see {self._log}.")
        pid = int(found[1])
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            sys.exit(f"Expected the worker to live until we kill it; it has died by itself. See {self._log}.")
        return pid

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _output(self) -> str:
        return Path(self._log).read_text(errors="replace")

    def _tail(self) -> str:
        return "\n".join(self._output().splitlines()[-15:])
