"""The short form of `make blame`, for a suite's tests: its short faults, with the servers that the tests have."""

import os
from pathlib import Path
from typing import Final

from baton_dev.blame.catalogue import FAULTS
from baton_dev.blame.client import Client
from baton_dev.blame.examination import Result, examine
from baton_dev.blame.stack import Stack
from baton_dev.testing.processes import url_of_test_database

PATIENCE: Final = 3.0  # the tests share the processors with each other; the limits proper are for `make blame`


def examine_short(stack_type: type[Stack], folder: Path, *, names: tuple[str, ...]) -> list[Result]:
    """Examine the short faults in a system of the parts ``names``."""
    urls = {"database_url": url_of_test_database(), "broker_url": os.environ["CELERY_BROKER_URL"]}
    results = []
    with stack_type(folder, names=names, **urls) as stack:
        client = Client(stack)
        try:
            for fault in FAULTS:
                if fault.is_short:
                    results.append(examine(fault, stack, client, patience=PATIENCE))
                    stack.mend()
        finally:
            client.end()
    return results
