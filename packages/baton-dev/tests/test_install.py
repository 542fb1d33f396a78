"""Installation shows that pip is at work: a line that moves on a terminal, else one now and then; failures are told."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

COMMAND: Final = [sys.executable, "-m", "baton_dev.install"]


@pytest.fixture
def unknown(tmp_path: Path) -> str:
    lock = tmp_path / "requirements.lock"
    lock.write_text("nobody-has-this==1.0 --hash=sha256:" + "0" * 64 + "\n")
    return str(lock)


@pytest.fixture
def empty(tmp_path: Path) -> str:
    lock = tmp_path / "requirements.lock"
    lock.write_text("# nothing\n")
    return str(lock)


def test_what_pip_says_is_shown_when_it_fails(unknown: str) -> None:
    done = subprocess.run(
        [*COMMAND, unknown, "--", "--no-index"], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "No matching distribution found for nobody-has-this" in done.stderr
    assert "installed" not in done.stdout


def test_it_ends_with_how_long_it_took(empty: str) -> None:
    done = subprocess.run(
        [*COMMAND, empty, "--", "--no-index"], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1].split()[1:] == ["s", "installed"], done
    assert "\r" not in done.stdout


def test_on_a_terminal_a_line_moves(empty: str) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*COMMAND, empty, "--", "--no-index"], stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while news := os.read(ours, 4096):
            shown += news
    except OSError:  # the other side has closed it
        pass
    finally:
        os.close(ours)
    assert process.wait(60) == 0
    assert b"\r\x1b[2K" in shown
