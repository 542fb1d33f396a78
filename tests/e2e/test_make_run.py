"""README's first command in a fresh clone, with nothing set, and Ctrl-C."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.baton import Baton
from tests.processes import ROOT

pytestmark = pytest.mark.timeout(240)


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
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    # The packages are those of this checkout: what `make` would download again is the same, hash by hash.
    subprocess.run(["cp", "-a", ROOT / ".venv", clone / ".venv"], check=True)
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    ports = ["WEB_PORT=28431", "FLOWER_PORT=28432"]
    command = ["timeout", "--signal=INT", "--kill-after=60", "60", "make", "run"]
    ran = subprocess.run(
        ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *ports, *command],
        cwd=clone,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Baton is running." in ran.stdout, ran.stdout + ran.stderr
    assert "Kill a worker now" in ran.stdout


def processes_with(variable: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if variable.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.joinpath("cmdline").read_text().replace("\0", " "))
        except OSError:
            continue  # gone, or another user's
    return found
