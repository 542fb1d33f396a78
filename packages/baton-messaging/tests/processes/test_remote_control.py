"""Remote control of a real worker only reads, on both brokers, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis
from baton_dev.project import PROJECT_DIR
from baton_dev.testing.processes import Process, process_environment, running, wait_until, worker_command
from baton_messaging.models import DeadLetter, Heartbeat, ProcessedMessage
from baton_messaging.processes.worker_answers import ask_workers
from celery import current_app

from tests.processes.conftest import OneBroker
from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)

ORDERS: list[tuple[str, dict[str, Any]]] = [
    ("shutdown", {}),
    ("pool_grow", {"n": 1}),
    ("pool_shrink", {"n": 1}),
    ("pool_restart", {}),
    ("autoscale", {"max": 1, "min": 1}),
    ("rate_limit", {"task_name": "sample.take_one", "rate_limit": "1/h"}),
    ("time_limit", {"task_name": "sample.take_one", "hard": 0.1, "soft": 0.1}),
    ("add_consumer", {"queue": "mails"}),
    ("cancel_consumer", {"queue": "sample"}),
    ("revoke", {"task_id": "x"}),
    ("revoke", {"task_id": "x", "terminate": True}),
    ("revoke_by_stamped_headers", {"headers": {"x": "y"}}),
    ("terminate", {"signal": "KILL", "task_id": "x"}),
    ("election", {"id": "x", "topic": "task", "action": {}}),
    ("objgraph", {"num": 1}),
    ("memdump", {}),
]


@pytest.fixture
def controlled(either: OneBroker, tmp_path: Path) -> Iterator[tuple[OneBroker, Process]]:
    env = {**either.env, "TEST_REMOTE_CONTROL": ""}
    with running(worker_command("sample"), log=tmp_path / "worker.log", ready=" ready.", env=env) as worker:
        wait_until(lambda: listens(either), what="a worker that listens")  # on Redis it subscribes a moment later
        yield either, worker


def listens(broker: OneBroker) -> bool:
    control: Any = current_app.control
    with broker.connection() as connection:
        return bool(control.ping(timeout=1, limit=1, connection=connection))


def order(broker: OneBroker, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Give an order; return what the worker answers."""
    control: Any = current_app.control
    with broker.connection() as connection:
        (answer,) = control.broadcast(
            command, arguments=arguments, reply=True, timeout=20, limit=1, connection=connection
        )
    (said,) = answer.values()
    return dict(said)


def test_what_reads_is_answered_and_orders_are_refused(controlled: tuple[OneBroker, Process]) -> None:
    broker, worker = controlled
    assert order(broker, "ping", {}) == {"ok": "pong"}
    assert order(broker, "stats", {})["pid"] == worker.pid
    for command, arguments in ORDERS:
        assert "refused" in order(broker, command, arguments)["error"], command
        assert f"command={command}" in worker.output()
    # A worker that starts tells others what it believes to be revoked; nobody is to believe it.
    message_id = str(uuid4())
    order(broker, "hello", {"from_node": "other@host", "revoked": {message_id: 1.0}})
    with broker.connection() as connection:
        control: Any = current_app.control
        (revoked,) = control.broadcast("revoked", reply=True, timeout=20, limit=1, connection=connection)
    assert [*revoked.values()] == [[]]

    broker.send(Sampled(sample_id=uuid4()))
    wait_until(ProcessedMessage.objects.exists, what="a message that is done: the worker has lost nothing")
    assert not DeadLetter.objects.exists()
    assert worker.exit_code is None


def test_a_worker_says_over_the_broker_who_it_is(controlled: tuple[OneBroker, Process]) -> None:
    broker, worker = controlled
    rows = Heartbeat.objects.filter(pid=worker.pid).filter(wiring__has_key="broker")
    row = wait_until(lambda: rows.all().first(), what="a heartbeat with its wiring")
    with broker.connection() as connection:
        (one,) = ask_workers(connection, names=[row.name], seconds=20)
    assert (one.name, one.pid, one.hostname, one.queues) == (row.name, worker.pid, row.hostname, ("sample",))
    assert one.wiring["database"]["id"] == row.wiring["database"]["id"]


ASK = """
import os, signal
from celery import current_app
from tests.project.celery import app
with app.connection_for_write() as connection:
    mailbox = app.control.mailbox(connection)
    mailbox._publish("ping", {}, reply_ticket="x", channel=connection.default_channel, timeout=10)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("either", ["valkey"], indirect=True)  # RabbitMQ deletes the queue with its connection
def test_an_asker_that_is_killed_leaves_nothing_for_long(controlled: tuple[OneBroker, Process]) -> None:
    with redis.Redis.from_url(os.environ["CELERY_BROKER_URL"], decode_responses=True) as client:
        client.delete(*[*client.scan_iter("*pidbox*"), "none"])
        environment = {**process_environment(), "DJANGO_SETTINGS_MODULE": "tests.settings"}
        done = subprocess.run([sys.executable, "-c", ASK], env=environment, cwd=PROJECT_DIR, check=False)
        assert done.returncode == -signal.SIGKILL
        answers = wait_until(lambda: [*client.scan_iter("*.reply.celery.pidbox*")], what="an answer")
        assert all(0 < client.pttl(key) <= 60_000 for key in answers), answers
        assert [*client.scan_iter("_kombu.binding.*pidbox*")] == []
