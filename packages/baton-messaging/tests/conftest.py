"""The plugins of this suite: the package, on a project of its own; and what a relay sends by."""

from collections.abc import Iterator
from typing import Any

import kombu
import pytest
from celery import current_app

pytest_plugins = ["baton_dev.testing.distribution", "baton_dev.testing.fixtures"]


@pytest.fixture
def producer() -> Iterator[kombu.Producer]:
    with current_app.connection_for_write() as broker:
        yield current_app.amqp.Producer(broker, auto_declare=False)


@pytest.fixture
def fresh_heartbeats(settings: Any) -> None:
    """Let heartbeats that a test has written stay fresh until its end: three seconds are too few on a busy machine."""
    settings.BATON = {**settings.BATON, "HEARTBEAT_STALE_SECONDS": 20}
