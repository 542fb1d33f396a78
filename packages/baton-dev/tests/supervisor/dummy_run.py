"""A run of `make run` has a Procfile of its own, and a process group, as a terminal would start it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from baton_dev.servers.ports import free_port
from baton_dev.testing.processes import wait_until

DUMMY_PROJECT = Path(__file__).resolve().parents[1] / "dummy_project"
DUMMY = f"{sys.executable} {DUMMY_PROJECT / 'dummy_program.py'}"
Start = Callable[..., "Run"]


class Run:
    """`make run` with a Procfile of its own, in a process group of its own, as a terminal would start it."""

    def __init__(self, state_dir: Path, *programs: str, **variables: str) -> None:
        self.state_dir = state_dir
        self.log = state_dir.with_name(f"output-{os.urandom(4).hex()}.txt")
        procfile = state_dir.with_name("Procfile")
        procfile.write_text("\n".join(programs))
        ports = {name: str(free_port(seed=f"{state_dir}{name}")) for name in ("WEB_PORT", "FLOWER_PORT")}
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "dummy_run", procfile],
                cwd=DUMMY_PROJECT,
                env={**os.environ, "BATON_STATE_DIR": str(state_dir), **ports, **variables},
                stdout=out,
                stderr=out,
                process_group=0,
            )

    def output(self) -> str:
        return self.log.read_text()

    def wait_for(self, pattern: str, *, seconds: float = 60, times: int = 1) -> str:
        """Wait until the output matches, and return the last match's first group."""
        wait_until(
            lambda: len(re.findall(pattern, self.output())) >= times,
            seconds=seconds,
            what=f"{pattern!r} {times} times in:\n{self.output()}\n…",
        )
        return str(re.findall(pattern, self.output())[-1])

    def press_ctrl_c(self) -> None:
        os.killpg(self.process.pid, signal.SIGINT)

    def wait(self) -> int:
        return self.process.wait(timeout=60)

    def what_is_left(self) -> list[str]:
        """Return the command lines of all processes that have inherited our state directory."""
        return [line for pid in Path("/proc").glob("[0-9]*") if (line := self._command_line_of_ours(pid))]

    def _command_line_of_ours(self, process: Path) -> str:
        marker = f"BATON_STATE_DIR={self.state_dir}\0"
        try:
            is_ours = marker in (process / "environ").read_text(errors="replace")
            return (process / "cmdline").read_text().replace("\0", " ") if is_ours else ""
        except OSError:  # it ended meanwhile
            return ""
