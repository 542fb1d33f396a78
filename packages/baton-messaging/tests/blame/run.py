"""All faults of the catalogue against one running system."""

import os
from pathlib import Path

import tests.blame.faults  # noqa: F401 - fills the catalogue
from tests.blame.asker import Asker
from tests.blame.asking import Result, examine, table
from tests.blame.catalogue import FAULTS
from tests.blame.stack import COMMANDS, Server, Stack


def run(folder: Path, database: Server, broker: Server, *, only: str, skip: int) -> int:
    """Return the exit code."""
    urls = {"database_url": os.environ["DATABASE_URL"], "broker_url": os.environ["CELERY_BROKER_URL"]}
    results: list[Result] = []
    with Stack(folder, names=tuple(COMMANDS), **urls) as stack:
        stack.database_server, stack.broker_server = database, broker
        name = "rabbitmq" if stack.is_rabbitmq else "redis"
        wanted = [fault for fault in FAULTS if only in fault.name and fault.only in ("", name)][skip:]
        asker = Asker(stack)
        for number, fault in enumerate(wanted, start=1):
            results.append(examine(fault, stack, asker))
            print(f"{number:>3}/{len(wanted)} {'  '.join(results[-1].row())}", flush=True)
            stack.mend()
        asker.end()
    right = sum(not result.wrong for result in results)
    print(f"\n{table(results)}\n\n{name}: {right} of {len(results)} right", flush=True)
    return 0 if right == len(results) else 1
