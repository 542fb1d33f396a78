"""The worker's side: tasks that misbehave on demand. ``celery -A tests.contract.tasks worker``.

They write down each run as a line of a file whose path they are given, so that tests can count the runs.
"""

import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from baton_messaging.worker.consumer import Consumer
from celery import Task
from celery.exceptions import Reject

from tests.contract.celery_app import ALERT_HEARTBEAT_SECONDS, ALERT_RENEWAL_SECONDS, FINISHED, STARTED, make_app

HARD_LIMIT_SECONDS = 1

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(levelname)s %(name)s %(message)s")
visibility = os.environ.get("CONTRACT_VISIBILITY_TIMEOUT")
app = make_app(os.environ["CONTRACT_BROKER_URL"], visibility_timeout=float(visibility) if visibility else None)
if os.environ["CONTRACT_IS_ALERT"]:
    Consumer.renewal_seconds = ALERT_RENEWAL_SECONDS
    app.conf.broker_heartbeat = ALERT_HEARTBEAT_SECONDS


def note(path: str, line: str) -> int:
    """Write down a line; return how many of the kind there are now."""
    file = Path(path)
    with file.open("a") as out:
        out.write(f"{line}\n")
    return file.read_text().splitlines().count(line)


@app.task(name="record")
def record(path: str, text: Any = FINISHED) -> None:
    note(path, str(text))


@app.task(name="reject")
def reject(path: str) -> None:
    note(path, STARTED)
    raise Reject("no", requeue=False)


@app.task(name="fail")
def fail(path: str) -> None:
    note(path, STARTED)
    raise ValueError("no")


@app.task(name="kill_itself")
def kill_itself(path: str) -> None:
    note(path, STARTED)
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(name="end_slowly")
def end_slowly(path: str) -> None:
    """End as a process does whose files are closed first: the worker hears of it before there is an exit code."""
    note(path, STARTED)
    frame: Any = sys._getframe()
    while "child_w" not in frame.f_locals:  # the end of billiard's pipe, where it forks
        frame = frame.f_back
    os.close(frame.f_locals["child_w"])
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(name="run_for_ever", time_limit=HARD_LIMIT_SECONDS)
def run_for_ever(path: str) -> None:
    note(path, STARTED)
    time.sleep(60)


@app.task(name="wait")
def wait(path: str) -> None:
    """Run until the file ``<path>.<number of this run>`` appears."""
    number = note(path, STARTED)
    deadline = time.monotonic() + 60
    while not Path(f"{path}.{number}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    note(path, FINISHED)


@app.task(name="requeue_bundle", bind=True)
def requeue_bundle(self: "Task[Any, Any]", path: str) -> None:
    """Note how often the message came back before, and requeue it."""
    note(path, str((self.request.headers or {}).get("x-delivery-count", 0)))
    raise Reject("again", requeue=True)
