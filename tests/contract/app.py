"""A Celery app with the project's own settings, shortened timeouts, and tasks that misbehave on demand.

The tasks write down each run as a line of a file whose path they are given, so that tests can count them.
"""

import logging
import os
import signal
import time
from pathlib import Path
from typing import Any

from celery import Celery, Task
from celery.exceptions import Reject

from config.queues import PLATFORM
from config.settings import celery as project
from messaging.queues import DEAD_LETTER_QUEUE, EXCHANGE, Queue, celery_queues
from messaging.transport.install import install
from messaging.transport.options import broker_settings, redis_options

QUEUES = ("contract", "contract.other")
DELIVERY_LIMIT = 2  # three runs
HARD_LIMIT = 0.7
STARTED, FINISHED = "started", "finished"

install()
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(levelname)s %(name)s %(message)s")

app = Celery("contract")
app.conf.update(
    {name.removeprefix("CELERY_").lower(): value for name, value in vars(project).items() if name.startswith("CELERY_")}
)
_broker = broker_settings(
    os.environ["CELERY_BROKER_URL"],
    exchange=EXCHANGE.name,
    queues=[*QUEUES, DEAD_LETTER_QUEUE],
    dead_letter_queue=DEAD_LETTER_QUEUE,
    delivery_limit=DELIVERY_LIMIT,
)
if visibility := os.environ.get("CONTRACT_VISIBILITY_TIMEOUT"):
    _broker.transport_options.update(
        redis_options(
            exchange=EXCHANGE.name,
            queues=[*QUEUES, DEAD_LETTER_QUEUE],
            dead_letter_queue=DEAD_LETTER_QUEUE,
            delivery_limit=DELIVERY_LIMIT,
            visibility_timeout=float(visibility),
        )
        if "confirm_publish" not in _broker.transport_options
        else {}
    )
app.conf.update(
    broker_url=_broker.url,
    broker_transport_options=_broker.transport_options,
    broker_use_ssl=_broker.use_ssl,
    broker_heartbeat=2,
    task_queues=celery_queues([Queue(name, owner=PLATFORM) for name in QUEUES], delivery_limit=DELIVERY_LIMIT),
    task_routes=None,
    task_default_queue="contract",
    result_backend="disabled://",
    beat_schedule={},
    worker_consumer="messaging.transport.consumer:Consumer",
)


def note(path: str, line: str) -> None:
    with Path(path).open("a") as file:
        file.write(f"{line}\n")


@app.task
def record(path: str, text: str = FINISHED) -> None:
    note(path, text)


@app.task
def reject(path: str) -> None:
    note(path, STARTED)
    raise Reject("no", requeue=False)


@app.task
def fail(path: str) -> None:
    note(path, STARTED)
    raise ValueError("no")


@app.task
def kill_itself(path: str) -> None:
    note(path, STARTED)
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(time_limit=HARD_LIMIT)
def run_for_ever(path: str) -> None:
    note(path, STARTED)
    time.sleep(60)


@app.task(bind=True)
def wait_for(self: "Task[Any, Any]", path: str, gate: str) -> None:
    """Run until a file appears; note the delivery count of this run."""
    note(path, STARTED)
    deadline = time.monotonic() + 60
    while not Path(gate).exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    note(path, FINISHED)


@app.task(bind=True)
def note_delivery_count(self: "Task[Any, Any]", path: str, *, requeue: bool) -> None:
    """Hand the message back; note what the header says at each run."""
    headers: dict[str, Any] = self.request.headers or {}
    note(path, str(headers.get("x-delivery-count", 0)))
    raise Reject("again", requeue=requeue)
