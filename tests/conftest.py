"""Fixtures that every part of the tests may use."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import current_app

from tests.processes import Process, manage_command, running, worker_command


@pytest.fixture(autouse=True)
def _empty_broker(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start each test that uses processes with nothing in the broker."""
    if {"worker", "relay"} & set(request.fixturenames):
        with current_app.connection_for_write() as broker:
            for queue in current_app.amqp.queues.values():
                queue.bind(broker.default_channel).declare()
                queue.bind(broker.default_channel).purge()
    yield


@pytest.fixture
def worker(transactional_db: None, tmp_path: Path) -> Iterator[Process]:
    """Run one worker for every queue of the project."""
    queues = [name for name in current_app.amqp.queues if name != "dead_letters"]
    with running(worker_command(*queues), log=tmp_path / "worker.log", ready=" ready.") as process:
        yield process


@pytest.fixture
def relay(transactional_db: None, tmp_path: Path) -> Iterator[Process]:
    """Run one relay."""
    with running(manage_command("relay"), log=tmp_path / "relay.log", ready="relay_started") as process:
        yield process
