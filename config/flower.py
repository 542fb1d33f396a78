"""Flower: a window on workers and queues. It reads this file by `--conf=config/flower.py`.

It only looks: what changes anything is done in the admin, where it is recorded. `/healthcheck` needs no password.
"""

import logging
from typing import Any

from config.env import end, env
from config.ports import PortTakenError, is_taken

if not env.FLOWER_BASIC_AUTH and not env.DJANGO_DEBUG:
    end("FLOWER_BASIC_AUTH: missing. Set it to user:password, or DJANGO_DEBUG to true.")
if is_taken(env.FLOWER_PORT, env.FLOWER_HOST):
    end(str(PortTakenError(variable="FLOWER_PORT", port=env.FLOWER_PORT)))

# It asks all workers at start, when some are not there yet. A worker that is away is seen on the page.
logging.getLogger("flower.inspector").setLevel(logging.ERROR)

address = env.FLOWER_HOST
port = env.FLOWER_PORT
basic_auth = [pair for pair in env.FLOWER_BASIC_AUTH.split(",") if pair]
read_only = True
persistent = False
max_tasks = 10_000  # tasks (count) kept in memory, some 2 kB each; Flower's own default is ten times that
max_workers = 100  # workers (count) kept in memory
purge_offline_workers = 600  # seconds after which a worker that is gone leaves the list
inspect_timeout = 1_000.0  # milliseconds that workers get to answer


def format_task(task: Any) -> Any:
    """Hide what a task was given and what it gave back: a message is nobody's business here."""
    task.args = task.kwargs = task.result = "(hidden)"
    return task
