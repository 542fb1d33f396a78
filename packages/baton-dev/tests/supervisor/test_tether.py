"""The tether: the program takes the place of the process that starts it, and ends with its parent."""

import os
import subprocess
import sys

from baton_dev.supervisor.tether import tethered
from baton_dev.testing.processes import wait_until


def test_the_program_is_the_process_itself() -> None:
    command = tethered([sys.executable, "-c", "import os, sys; print(os.getpid(), *sys.argv[1:])", "a b", "$HOME"])

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output, _ = process.communicate(timeout=30)

    assert output == f"{process.pid} a b $HOME\n"


def test_the_program_ends_with_a_parent_that_is_killed() -> None:
    sleeper = tethered([sys.executable, "-c", "import signal; print('asleep', flush=True); signal.pause()"])
    parent = f"import subprocess, time; p = subprocess.Popen({sleeper!r}); print(p.pid, flush=True); time.sleep(600)"

    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        words = [process.stdout.readline().strip(), process.stdout.readline().strip()]
        pid = int(next(word for word in words if word.isdigit()))
        assert "asleep" in words  # only now is the tether sure to be tied
        process.kill()

    wait_until(lambda: not _is_alive(pid), what="the program to end")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
