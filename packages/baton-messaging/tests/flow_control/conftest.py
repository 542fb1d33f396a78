"""A RabbitMQ for the commands that only mean something there."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import kombu
import pytest
from baton_dev.testing.broker_queues import delete
from baton_dev.testing.processes import Process, manage_command
from baton_dev.testing.rabbitmq import RabbitMQ, skip_without_rabbitmq
from baton_messaging.broker.transports import install
from baton_messaging.maintenance.queue_migration import retry_while_busy

Run = Callable[..., Process]


@pytest.fixture(scope="package")
def rabbitmq() -> Iterator[RabbitMQ]:
    skip_without_rabbitmq()
    service = RabbitMQ(Path(os.environ["BATON_STATE_DIR"]) / "flow")
    service.destroy()  # a node that was stopped in its very first start comes back without quorum queues
    service.start()
    yield service
    service.stop()


@pytest.fixture
def broker(rabbitmq: RabbitMQ) -> Iterator[kombu.Connection]:
    """Connect to a RabbitMQ without any queue."""
    install()
    with kombu.Connection(rabbitmq.url, transport_options={"confirm_publish": True}) as connection:
        for name in ("sample", "sample.migrating", "parcels", "dead_letters"):
            retry_while_busy(connection, partial(delete, name))
        yield connection


@pytest.fixture
def command(rabbitmq: RabbitMQ, tmp_path: Path) -> Run:
    """Run a management command against RabbitMQ to its end."""

    def run(*words: str) -> Process:
        process = Process(manage_command(*words), log=tmp_path / "command.log", env={"CELERY_BROKER_URL": rabbitmq.url})
        process.wait(seconds=90)
        return process

    return run
