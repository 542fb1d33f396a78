"""A Valkey of our own, because some tests fill it up or empty it, and clients of it."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import kombu
import pytest
import redis
from baton_dev.servers.embedded import Valkey
from baton_messaging.broker.transports import install

from tests.broker.peer import Peer


@pytest.fixture(scope="session")
def valkey() -> Iterator[Valkey]:
    install()
    with Valkey(Path(os.environ["BATON_STATE_DIR"]) / "transport") as service:
        yield service


@pytest.fixture
def server(valkey: Valkey) -> Iterator[redis.Redis]:
    """Return a client of an empty server."""
    with redis.Redis.from_url(valkey.url, decode_responses=True) as client:
        client.flushall()
        yield client
        client.config_set("maxmemory", "0")


@pytest.fixture
def connect(valkey: Valkey, server: redis.Redis) -> Iterator[Callable[..., Peer]]:
    """Return a function that opens one more connection, with the options that are given."""
    with ExitStack() as stack:

        def open_one(**options: object) -> Peer:
            connection = kombu.Connection(valkey.url, transport_options={**Peer.OPTIONS, **options})
            return Peer(stack.enter_context(connection))

        yield open_one


@pytest.fixture
def peer(connect: Callable[..., Peer]) -> Peer:
    return connect()
