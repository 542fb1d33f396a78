"""Shared processes serve consecutive tests that ask for them, and end before one that does not.

They are a worker, a relay and a collector. Starting them takes longer than most tests; and one that is left running
would take the messages of the next test, or answer for a process that is not there.
"""

import os
from collections.abc import Callable, Collection
from pathlib import Path

from celery import current_app

from baton_dev.testing.processes import Process, collector_command, relay_command, worker_command


def _worker_for_all_queues() -> list[str]:
    return worker_command(*(name for name in current_app.amqp.queues if name != "dead_letters"))


#: By the names of their fixtures: the command, and what they say when they are ready.
_PROGRAMS: dict[str, tuple[Callable[[], list[str]], str]] = {
    "worker": (_worker_for_all_queues, " ready."),
    "relay": (relay_command, "relay_started"),
    "collector": (collector_command, "collector_started"),
}
_Key = tuple[str, str]
_running: dict[_Key, Process] = {}


def shared(name: str) -> Process:
    """Return the process; a test must leave it alive."""
    key = _key(name)
    if key not in _running:
        command, ready = _PROGRAMS[name]
        log = Path(os.environ["BATON_STATE_DIR"]) / f"{name}.log"
        log.unlink(missing_ok=True)  # what an earlier one said
        process = Process(command(), log=log)
        _running[key] = process
        process.wait_for_output(ready)
    assert _running[key].exit_code is None, _running[key].output()
    return _running[key]


def end_all_but(names: Collection[str]) -> bool:
    """End those that the next test does not ask for; tell whether there were any.

    Killed: nothing is under way, and a clean stop takes seconds.
    """
    wanted = {_key(name) for name in names if name in _PROGRAMS}
    unwanted = set(_running) - wanted
    for key in unwanted:
        _running.pop(key).kill()
    return bool(unwanted)


def _key(name: str) -> _Key:
    return name, os.environ["CELERY_BROKER_URL"]
