"""README's first command in a fresh clone, with nothing set, and Ctrl-C."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from config.embedded import Postgres
from config.local.ports import free_port
from tests.e2e.baton import Customers
from tests.processes import ROOT, Process, alone, wait_until

pytestmark = pytest.mark.timeout(400)


def test_make_run_works_in_a_fresh_clone_with_an_empty_environment_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "-c", "advice.detachedHead=false", "clone", "--quiet", ROOT, clone], check=True)
    copy_environment(clone / ".venv")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    ports = {name: str(free_port(seed=f"{clone}:{name}")) for name in ("WEB_PORT", "FLOWER_PORT")}
    variables = [f"{name}={value}" for name, value in {**kept, **ports}.items()]
    process = Process(["env", "-i", *variables, "make", "-C", str(clone), "run"], log=tmp_path / "run.log", start=alone)
    try:
        process.wait_for_output("Baton is running.", seconds=200)
        process.wait_for_output("Kill a worker now")
        customers = Customers(f"http://127.0.0.1:{ports['WEB_PORT']}")
        (order,) = customers.wait_until_settled([customers.place()])
        assert order["status"] == "confirmed"
        customers.place_many(4)
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
        wait_until(lambda: process.exit_code is not None, seconds=90, what="an end after Ctrl-C")
    finally:
        process.stop()
        Postgres(clone / "var").destroy()  # root keeps the data elsewhere
    assert processes_with(f"PWD={clone}") == []


def copy_environment(target: Path) -> None:
    """Copy the packages of these tests, without those that only they need: what `make` downloads is the same."""
    shutil.copytree(sys.prefix, target, symlinks=True, copy_function=link_or_copy)
    only_for_tests = locked("requirements-dev.lock") - locked("requirements.lock")
    assert "pytest" in only_for_tests
    subprocess.run(
        [target / "bin/python", "-m", "pip", "uninstall", "-qq", "--yes", *sorted(only_for_tests)], check=True
    )


def link_or_copy(source: str, target: str) -> None:
    """Take no time and no room where the two are on one disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def locked(name: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+)==", (ROOT / name).read_text(), re.MULTILINE))


def processes_with(variable: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if variable.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.joinpath("cmdline").read_text().replace("\0", " "))
        except OSError:
            continue  # gone, or another user's
    return found
