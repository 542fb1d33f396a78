"""This process, and those that it starts, talk to RabbitMQ while the tests of a module run: import the fixture."""

import os
from collections.abc import Iterator
from typing import Any

import kombu.pools
import pytest
from baton_dev.testing.drain import end_shared_processes
from baton_dev.testing.rabbitmq import RabbitMQ, skip_without_rabbitmq
from celery import current_app


@pytest.fixture(scope="module", autouse=True)
def on_rabbitmq(rabbitmq: RabbitMQ, django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Let them."""
    skip_without_rabbitmq()
    with django_db_blocker.unblock():
        end_shared_processes()  # those that run talk to the other broker
    url = rabbitmq.start()
    assert current_app.conf.broker_read_url  # it is read at the first look, and is another object then
    changes: Any = current_app.conf.changes
    told: dict[str, Any] = {
        "broker_read_url": url,
        "broker_write_url": url,
        "broker_transport_options": {"confirm_publish": True},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "CELERY_BROKER_URL", url)
        for name, value in told.items():
            patch.setitem(changes, name, value)
        _forget_connections()
        yield
    _forget_connections()


def _forget_connections() -> None:
    app: Any = current_app
    app._pool = None
    app.amqp._producer_pool = None
    kombu.pools.reset()
