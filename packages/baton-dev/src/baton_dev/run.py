"""`make run`: everything, in the foreground, from nothing, until Ctrl-C.

python -m baton_dev.run               what `make run` calls
python -m baton_dev.run manage WORD … manage.py with the environment of the run (`make manage ARGS="WORD …"`)
python -m baton_dev.run reset         delete the data of the embedded servers (`make reset`)
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from baton_dev.environment import complete_environment
from baton_dev.project import PROJECT_DIR, end, environment
from baton_dev.supervisor.tether import signal_on_parent_death

if TYPE_CHECKING:
    from baton_dev.stack import Stack

PRIVATE = 0o077  # umask: mails, logs and secrets are for the user who runs this


def main(command: str = "run", *arguments: str) -> int:
    """Do what the command says and return the exit code."""
    os.umask(PRIVATE)
    complete_environment()
    with errors_in_one_line():
        return {"run": run, "manage": manage, "reset": reset}[command](*arguments)


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """End the process with one line and exit code 2 when something of the surroundings is not as it must be."""
    # These read the environment, which must be complete by now.
    from baton_dev.stack import STACK_ERRORS  # noqa: PLC0415

    try:
        yield
    except STACK_ERRORS as error:
        end(str(error))
    except PermissionError as error:
        end(
            f"BATON_STATE_DIR: {error.filename} belongs to another user. Run as that user, or choose another directory."
        )


def run() -> int:
    """Run Baton until a signal comes."""
    from baton_dev.stack import Stack  # noqa: PLC0415

    return attend(Stack(environment()))


def attend(stack: Stack) -> int:
    """Bring a stack up, show what happens, and drain it when a signal comes or it cannot go on."""

    def on_signal(number: int, _: FrameType | None) -> None:
        stack.ask_to_stop(hurry=number == signal.SIGINT)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    if "MAKELEVEL" in os.environ:
        signal_on_parent_death(signal.SIGTERM)  # a killed make would leave us running with nobody to press Ctrl-C
    with stack:
        if stack.set_up():
            stack.watch()
    return stack.exit_code


def manage(*arguments: str) -> int:
    """Become manage.py, with the servers of the run. It must be running."""
    from baton_dev.servers.selection import OWNER_COMMANDS, embedded_services, owner_url, service_urls  # noqa: PLC0415

    env = environment()
    services = [service for service in embedded_services(env) if service.was_prepared]
    variables = {**os.environ, **service_urls(services)}
    if OWNER_COMMANDS.intersection(arguments[:1]) and (owner := owner_url(env, services)):
        variables["DATABASE_URL"] = owner
    os.chdir(PROJECT_DIR)
    os.execve(sys.executable, [sys.executable, "manage.py", *arguments], variables)


def reset() -> int:
    """Delete the data of the embedded servers. They must be stopped."""
    from baton_dev.servers.selection import embedded_services  # noqa: PLC0415

    for service in embedded_services(environment()):
        service.destroy()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
