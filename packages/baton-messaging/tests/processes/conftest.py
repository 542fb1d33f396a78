"""Real processes on both brokers."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import kombu
import pytest
from baton_dev.testing.broker_queues import lose_everything
from baton_dev.testing.rabbitmq import RabbitMQ, skip_without_rabbitmq
from baton_messaging.broker.transports import install
from baton_messaging.events import Event
from baton_messaging.publish import publish
from baton_messaging.relaying.outbox_round import send_outbox
from celery import current_app
from django.db import transaction


@dataclass(frozen=True)
class OneBroker:
    """A broker by its URL: what processes are started with."""

    url: str

    @property
    def is_rabbitmq(self) -> bool:
        return self.url.startswith("amqp")

    @property
    def env(self) -> dict[str, str]:
        return {"CELERY_BROKER_URL": self.url}

    def connection(self) -> kombu.Connection:
        """Connect as the project does."""
        if not self.is_rabbitmq:
            return current_app.connection_for_write()
        install()
        return kombu.Connection(self.url, transport_options={"confirm_publish": True})

    def send(self, event: Event) -> UUID:
        """Publish, and relay into this broker; return the message's id."""
        with transaction.atomic():
            (message_id,) = publish(event)
        with self.connection() as connection:
            send_outbox(current_app.amqp.Producer(connection, auto_declare=False))
        return message_id


@pytest.fixture(scope="package")
def rabbitmq() -> Iterator[RabbitMQ]:
    skip_without_rabbitmq()
    service = RabbitMQ(Path(os.environ["BATON_STATE_DIR"]) / "processes")
    service.destroy()  # a node that was stopped in its very first start comes back without quorum queues
    service.start()
    yield service
    service.stop()


@pytest.fixture(params=["valkey", "rabbitmq"])
def either(request: pytest.FixtureRequest) -> Iterator[OneBroker]:
    """Return each broker in turn, empty, and let this process use it, too."""
    if request.param == "valkey":
        request.getfixturevalue("empty_broker")
        yield OneBroker(os.environ["CELERY_BROKER_URL"])
        return
    service: RabbitMQ = request.getfixturevalue("rabbitmq")
    lose_everything(service)
    conf: Any = current_app.conf
    before = {name: conf[name] for name in ("broker_read_url", "broker_write_url", "broker_transport_options")}
    options = {"confirm_publish": True}
    conf.update(broker_read_url=service.url, broker_write_url=service.url, broker_transport_options=options)
    _forget_connections()
    yield OneBroker(service.url)
    conf.update(before)
    _forget_connections()


def _forget_connections() -> None:
    """Let the application connect anew: its pools know where they lead to."""
    app: Any = current_app
    app._after_fork()
