"""Ctrl-C after everything else: the other tests of the folder need what it ends."""

from pathlib import Path

import pytest

from tests.e2e.baton import Baton

pytestmark = pytest.mark.timeout(240)


def test_ctrl_c_drains_and_leaves_no_process(baton: Baton) -> None:
    assert processes_with(f"PWD={baton.directory}") != []
    baton.place_many(4)
    baton.press_ctrl_c()
    assert processes_with(f"PWD={baton.directory}") == []
    assert "Stopped." in baton.output()


def processes_with(variable: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if variable.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.joinpath("cmdline").read_text().replace("\0", " "))
        except OSError:
            continue  # gone, or another user's
    return found
