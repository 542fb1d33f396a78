"""README's first command in a fresh clone, with nothing set, and Ctrl-C."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from config.embedded import Postgres
from config.local.ports import free_port
from tests.e2e.baton import Baton
from tests.processes import ROOT, Process, wait_until

pytestmark = pytest.mark.timeout(400)


def test_ctrl_c_drains_and_leaves_nothing_behind(tmp_path_factory: pytest.TempPathFactory) -> None:
    baton = Baton(tmp_path_factory.mktemp("drained"))
    try:
        baton.wait_until_up()
        baton.place_many(4)
        assert baton.press_ctrl_c() == 0
    finally:
        baton.stop()
    assert processes_with(f"BATON_STATE_DIR={baton.state_dir}") == []


def test_make_run_works_in_a_fresh_clone_with_an_empty_environment(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "-c", "advice.detachedHead=false", "clone", "--quiet", ROOT, clone], check=True)
    # The packages are those of this checkout: what `make` would download again is the same, hash by hash.
    subprocess.run(["cp", "-a", ROOT / ".venv", clone / ".venv"], check=True)
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    ports = {name: str(free_port(seed=f"{clone}:{name}")) for name in ("WEB_PORT", "FLOWER_PORT")}
    variables = [f"{name}={value}" for name, value in {**kept, **ports}.items()]
    process = Process(["env", "-i", *variables, "make", "-C", str(clone), "run"], log=tmp_path / "run.log")
    try:
        process.wait_for_output("Baton is running.", seconds=200)
        process.wait_for_output("Kill a worker now")
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
        wait_until(lambda: process.exit_code is not None, seconds=90, what="an end after Ctrl-C")
    finally:
        process.stop()
        Postgres(clone / "var").destroy()  # root keeps the data elsewhere
    assert processes_with(f"PWD={clone}") == []


def processes_with(variable: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if variable.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.joinpath("cmdline").read_text().replace("\0", " "))
        except OSError:
            continue  # gone, or another user's
    return found
