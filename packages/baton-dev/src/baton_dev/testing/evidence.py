"""Evidence in the report of a test that failed: what the tables, the broker and the processes say.

A test that waits for real processes in vain knows no more than that it waited. By the time a person reads it, they and
their tables are gone.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.models import Attempt, DeadLetter, Heartbeat, OutboxMessage, ProcessedMessage
from celery import current_app
from django.db.models import Count

from baton_dev.testing import processes

MAX_ROWS = 20
MAX_LINES = 40


def add_messages(report: pytest.TestReport) -> None:
    """Add what the tables and the broker say of the messages."""
    report.sections.append(("how far did it get: tables", "\n".join(_tables())))
    report.sections.append(("how far did it get: queues", "\n".join(_queues())))


def add_processes(report: pytest.TestReport) -> None:
    """Add what the processes that still run have said last."""
    for process in processes.started:
        if process.exit_code is None:
            lines = process.output().splitlines()[-MAX_LINES:]
            report.sections.append((f"how far did it get: process {process.pid}", "\n".join(lines)))


def _tables() -> Iterator[str]:
    which = ("message_id", "key")
    yield f"processed: {dict(ProcessedMessage.objects.values_list('consumer').annotate(Count('pk')))}"
    for title, rows in {
        "outbox, waiting": OutboxMessage.objects.waiting().values(*which, "name", "sent_to", "available_at"),
        "retries, waiting": Attempt.objects.filter(sent_at=None).values(*which, "consumer", "attempt", "due_at"),
        "dead": DeadLetter.objects.values(*which, "consumer", "reason", "error_class", "state", "died_at"),
        "alive": Heartbeat.objects.values("name", "beaten_at", "is_consuming", "running", "reserved"),
    }.items():
        found: list[Any] = list(rows[: MAX_ROWS + 1])
        yield f"{title}: {len(found)}{' or more' if len(found) > MAX_ROWS else ''}"
        yield from (f"  {row}" for row in found[:MAX_ROWS])


def _queues() -> Iterator[str]:
    with current_app.connection_for_read() as broker:
        for name, depth in depths(broker, current_app.amqp.queues).items():
            yield f"{name}: {depth}"
