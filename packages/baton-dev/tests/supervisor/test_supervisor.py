"""The supervisor, for real: what dies comes back, what stops finishes first, and nothing is left behind."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
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


@pytest.fixture
def start(state_dir: Path) -> Iterator[Start]:
    runs: list[Run] = []

    def start_run(*programs: str, **variables: str) -> Run:
        runs.append(Run(state_dir, *programs, **variables))
        return runs[-1]

    state_dir.mkdir(parents=True)
    yield start_run
    for run in runs:
        run.process.kill()
        run.process.wait()
    wait_until(lambda: not any(run.what_is_left() for run in runs), seconds=60, what="everything to end")


def test_a_program_that_is_killed_is_started_again(start: Start) -> None:
    run = start(f"worker: {DUMMY}")
    first = run.wait_for(r"worker \| working (\d+)")

    os.kill(int(first), signal.SIGKILL)

    run.wait_for(r"worker \| working \d+", times=2)
    run.wait_for(r"worker \| was killed by SIGKILL; it is started again")


def test_a_program_that_keeps_dying_is_never_given_up(start: Start) -> None:
    run = start(f"broken: {sys.executable} -c 'raise SystemExit(\"no database\")'", f"worker: {DUMMY}")

    run.wait_for(r"broken \| keeps failing; next try in", times=2)
    run.wait_for(r"broken \| no database", times=4)
    run.wait_for(r"broken \| ended with exit status 1")
    assert len(re.findall(r"worker \| started", run.output())) == 1


def test_ctrl_c_lets_programs_finish_and_stops_the_services_last(start: Start) -> None:
    run = start(f"slow: {DUMMY} 1", f"quick: {DUMMY}", CELERY_BROKER_URL="")
    run.wait_for(r"Baton is running")

    run.press_ctrl_c()

    assert run.wait() == 0
    assert run.what_is_left() == []
    output = run.output()
    assert len(re.findall(r"finished", output)) == 2
    assert output.index("slow   | stopped") < output.index("valkey | stopped") < output.index("baton  | Stopped.")


def test_sigterm_reaches_the_programs_themselves(start: Start) -> None:
    run = start(f"worker: {DUMMY}")
    pid = run.wait_for(r"started \(pid (\d+)\)")
    assert run.wait_for(r"working (\d+)") == pid  # no shell in between

    run.process.terminate()

    assert run.wait() == 0
    run.wait_for(rf"finishing {pid}")
    assert run.what_is_left() == []


def test_a_second_ctrl_c_stops_at_once(start: Start) -> None:
    run = start(f"stuck: {DUMMY} 600")
    run.wait_for(r"Baton is running")
    run.press_ctrl_c()
    run.wait_for(r"finishing \d+")

    wait_until(lambda: run.press_ctrl_c() or run.process.poll() is not None, seconds=60, what="the run to end")  # type: ignore[func-returns-value]

    assert run.what_is_left() == []


def test_a_program_that_does_not_finish_in_time_gets_sigquit(start: Start) -> None:
    run = start(f"stuck: {DUMMY} 600", BATON_DRAIN_SECONDS="1")
    run.wait_for(r"Baton is running")

    run.press_ctrl_c()

    run.wait_for(r"given back to the broker")
    assert run.wait() == 0
    assert "finished" not in run.output()


@pytest.mark.parametrize("victim", ["run", "supervisor"])
def test_nothing_is_left_when_a_parent_is_killed(start: Start, victim: str) -> None:
    run = start(f"worker: {DUMMY}", CELERY_BROKER_URL="")
    run.wait_for(r"Baton is running")
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split()

    os.kill(run.process.pid if victim == "run" else int(children[0]), signal.SIGKILL)

    assert run.wait() == (-signal.SIGKILL if victim == "run" else 1)
    wait_until(lambda: not run.what_is_left(), seconds=30, what=f"everything to end, but left is {run.what_is_left()}")
    again = start(f"worker: {DUMMY}", CELERY_BROKER_URL="")
    again.wait_for(r"Baton is running")


def test_a_killed_broker_comes_back_with_its_messages(start: Start) -> None:
    run = start(f"worker: {DUMMY}", CELERY_BROKER_URL="")
    run.wait_for(r"Baton is running")
    client = redis.Redis(port=int((run.state_dir / "valkey.port").read_text()))
    client.set("order", "accepted")

    os.kill(int(run.wait_for(r"valkey \| started \(pid (\d+)\)")), signal.SIGKILL)

    run.wait_for(r"valkey \| started", times=2)
    wait_until(lambda: _get(client) == b"accepted", what="the message")


def test_a_second_run_in_the_same_directory_is_refused_in_one_line(start: Start) -> None:
    run = start(f"worker: {DUMMY}")
    run.wait_for(r"worker \| working")

    second = start(f"worker: {DUMMY}")

    assert second.wait() == 2
    assert re.fullmatch(rf"Baton already runs here \(process {run.process.pid}\)\..*\n", second.output())


def _get(client: redis.Redis) -> object:
    try:
        return client.get("order")
    except redis.ConnectionError:
        return None
