"""A tether ends a program when its parent ends: `python -m baton_dev.supervisor.tether SIGNAL program arguments…`.

A supervisor killed with -9 cannot stop what it started. Linux can: a process may ask for a signal at the death of its
parent, and keeps that wish when it turns into another program by exec(). So no process stands in between, and
SIGTERM reaches the program itself. Elsewhere than on Linux the wish cannot be expressed and the program just runs.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterable

PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>


def signal_on_parent_death(number: signal.Signals) -> None:
    """Ask the kernel to send `number` when the parent dies. A change of user undoes it: call this last."""
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")


def tethered(command: Iterable[str], number: signal.Signals = signal.SIGTERM) -> list[str]:
    """Return the command that runs `command` until it ends or its parent does, which then sends the signal.

    The file, isolated, and not the module: it is in front of each program, and has to import nothing else.
    """
    return [sys.executable, "-I", __file__, number.name.removeprefix("SIG"), *command]


def main(arguments: list[str]) -> None:
    """Become the program of the arguments, tied to the parent. The signal is named as in `kill -TERM`."""
    number, *command = arguments
    signal_on_parent_death(signal.Signals[f"SIG{number}"])
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
