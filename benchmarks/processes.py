"""The real processes: started as the Procfile starts them, and held still while another one is measured.

Holding still is SIGSTOP to the main process: it reads nothing from the broker or the database until `resumed`, while
its connections stay open. So work can be laid ready, and what does not take part costs no processor.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from baton_dev.supervisor.tether import tethered

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 90
STOP_SECONDS = 20


class Child:
    """A process of ours and its children, its output kept in a file."""

    def __init__(self, command: Sequence[str], *, log: Path, env: dict[str, str] | None = None) -> None:
        self.log = log
        tied = tethered(command, signal.SIGKILL)  # held still, it would heed no other
        with log.open("wb") as out:
            self._process = subprocess.Popen(  # our own command
                tied, cwd=ROOT, env=os.environ | (env or {}), stdout=out, stderr=out, start_new_session=True
            )

    @property
    def session(self) -> int:
        """Return what the process and all its children have in common."""
        return self._process.pid

    def says(self, text: str) -> bool:
        """Tell whether the text stands in the output. Raises RuntimeError when the process has ended."""
        if self._process.poll() is not None:
            raise RuntimeError(f"A process of the bench ended by itself. What it said is in {self.log}.")
        return text in self.log.read_text(errors="replace")

    def pause(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    @contextmanager
    def resumed(self) -> Iterator[None]:
        """Let the process run for as long as the block does."""
        self.resume()
        try:
            yield
        finally:
            self.pause()

    def stop(self) -> None:
        """Stop in good order; kill what has not ended by then."""
        try:
            self.resume()
            self._process.terminate()
            self._process.wait(STOP_SECONDS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        finally:
            self._kill_group()
            self._process.wait()

    def _kill_group(self) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


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


def wait_until(condition: Callable[[], object], *, what: str, seconds: float = START_SECONDS) -> None:
    """Poll until the condition holds. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"Expected {what} within {seconds} s, and it did not come.")
        time.sleep(0.05)
