"""A real worker tells since when it runs a message, and in which child: on both brokers."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.testing.processes import Process, running, wait_until, worker_command
from baton_messaging.diagnosis.triage.report import triage
from baton_messaging.diagnosis.triage.rules import after_the_broker
from baton_messaging.models import Heartbeat
from django.db import connection
from django.utils import timezone

from tests.processes.conftest import OneBroker
from tests.sample.events import Sampled
from tests.sample.tasks import HELD

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def holding() -> Iterator[None]:
    """Let handlers that are told to be held wait until the end."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [HELD])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [HELD])


def what_runs(worker: Process) -> dict[str, Any]:
    rows = Heartbeat.objects.filter(pid=worker.pid, running__0__isnull=False)
    found: Heartbeat = wait_until(lambda: rows.all().first(), what="a beat that names what runs")
    (entry,) = found.running
    return dict(entry)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_worker_says_when_a_child_took_a_message_up_and_which(either: OneBroker, tmp_path: Path) -> None:
    with (
        holding(),
        running(worker_command("sample"), log=tmp_path / "worker.log", ready=" ready.", env=either.env) as worker,
    ):
        sent_at = timezone.now()
        message_id = either.send(Sampled(sample_id=uuid4(), behaviour="held"))
        entry = what_runs(worker)
        assert entry["message_ids"] == [str(message_id)]
        # What Celery makes of two clocks is right by some milliseconds.
        leeway = timedelta(seconds=0.5)
        assert sent_at - leeway <= datetime.fromisoformat(entry["started_at"]) <= timezone.now() + leeway
        assert parent_of(entry["pid"]) == worker.pid


def test_beyond_its_hard_limit_is_said_of_a_real_worker(
    either: OneBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(after_the_broker, "LIMIT_SLACK_SECONDS", 0.0)
    # Threads: nothing ends what runs for too long, as when a worker fails to kill its child.
    command = [*worker_command("sample", concurrency=1), "-P", "threads"]
    with running(command, log=tmp_path / "worker.log", ready=" ready.", env=either.env) as worker:
        event = Sampled(sample_id=uuid4(), seconds=14)
        either.send(event)
        what_runs(worker)

        def says_so() -> bool:
            (answer,) = triage(str(event.sample_id)).verdicts
            return "beyond" in answer.state_text

        wait_until(says_so, what="a message beyond its hard limit of 8 s")
