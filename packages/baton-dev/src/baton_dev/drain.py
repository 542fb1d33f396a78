"""A drain ends a run in good order: programs finish what they hold, services go last, nothing is left behind."""

import time
from collections.abc import Callable
from signal import SIGKILL, SIGQUIT

from baton_dev.console import Console
from baton_dev.supervisor.supervisor import Supervisor

ROUND_SECONDS = 0.1
STOP_SECONDS = 30  # for the services, and for what is left when the supervisor was killed


def drain(supervisor: Supervisor, console: Console, *, seconds: int, hurry: Callable[[], bool]) -> None:
    """Stop everything. After `seconds` tasks are given back to the broker; with `hurry` they are killed."""
    if supervisor.is_alive():
        console.say(f"Stopping: running tasks get up to {seconds} s to finish. Ctrl-C again to stop at once.")
        supervisor.stop_programs()
        _wait_for_programs(supervisor, console, seconds=seconds, hurry=hurry)
        supervisor.stop_services()
    else:
        console.say("The supervisor is gone. Everything that it ran has been told to stop.")
    deadline = time.monotonic() + STOP_SECONDS
    while supervisor.anything_runs() and time.monotonic() < deadline:
        _round(console)
    supervisor.kill()
    console.show_news()
    console.say("Stopped.")


def _wait_for_programs(supervisor: Supervisor, console: Console, *, seconds: int, hurry: Callable[[], bool]) -> None:
    give_back_at = time.monotonic() + seconds
    was_given_back = False
    while supervisor.is_alive() and supervisor.remaining_programs():
        if hurry():
            supervisor.signal_programs(SIGKILL)
        elif time.monotonic() > give_back_at and not was_given_back:
            console.say("Time is up: the tasks that still run are given back to the broker.")
            supervisor.signal_programs(SIGQUIT)
            was_given_back = True
        _round(console)


def _round(console: Console) -> None:
    console.show_news()
    time.sleep(ROUND_SECONDS)
