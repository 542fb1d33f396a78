"""The real processes: started as the Procfile starts them, and held still while another one is measured.

Holding still is SIGSTOP to the main process: it reads nothing from the broker or the database until `resumed`, while
its connections stay open. So work can be laid ready, and what does not take part costs no processor.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from baton_dev.testing.processes import Process, alone
from baton_dev.testing.processes import wait_until as poll_until

START_SECONDS = 90
STOP_SECONDS = 20


class Child(Process):
    """A process of ours and its children, which can be held still."""

    def __init__(self, command: Sequence[str], *, log: Path, env: dict[str, str] | None = None) -> None:
        log.unlink(missing_ok=True)
        super().__init__(command, log=log, env=env, start=alone)

    def says(self, text: str) -> bool:
        """Tell whether the text stands in the output. Raises RuntimeError when the process has ended."""
        if self.exit_code is not None:
            raise RuntimeError(f"A process of the bench ended by itself. What it said is in {self.log}.")
        return text in self.output()

    def pause(self) -> None:
        self.send(signal.SIGSTOP)

    @contextmanager
    def resumed(self) -> Iterator[None]:
        """Let the process run for as long as the block does."""
        self.send(signal.SIGCONT)
        try:
            yield
        finally:
            self.pause()

    def stop(self, *, seconds: float = STOP_SECONDS) -> int:
        """Stop in good order, also while held still; kill what has not ended by then."""
        self.send(signal.SIGCONT)
        return super().stop(seconds=seconds)


def relay(log_dir: Path) -> Child:
    return Child([sys.executable, "manage.py", "relay"], log=log_dir / "relay.log")


def worker(app: str, queue: str, *, log_dir: Path, env: dict[str, str] | None = None) -> Child:
    """Start a worker with two children, with the options of the Procfile."""
    options = ["-l", "INFO", "-n", f"{queue}@bench", "-Q", queue, "-c", "2", "-O", "fair"]
    quiet = ["--without-mingle", "--without-gossip"]
    command = [sys.executable, "-m", "celery", "--quiet", "--skip-checks", "-A", app, "worker", *options, *quiet]
    return Child(command, log=log_dir / f"{queue}.log", env=env)


def web(log_dir: Path) -> Child:
    command = [sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py", "config.wsgi"]
    return Child(command, log=log_dir / "web.log")


def web_answers() -> bool:
    url = f"http://{os.environ['WEB_HOST']}:{os.environ['WEB_PORT']}/healthz"
    try:
        with urlopen(Request(url, headers={"X-Forwarded-Proto": "https"}), timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def wait_until(condition: Callable[[], object], *, what: str) -> None:
    """Poll until the condition holds, which on a busy machine may take long."""
    poll_until(condition, seconds=START_SECONDS, what=what)
