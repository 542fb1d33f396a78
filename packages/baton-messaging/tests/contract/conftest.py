"""Both brokers, each with the same workers."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from baton_dev.servers.embedded import Valkey
from baton_dev.testing.processes import Process
from baton_dev.testing.rabbitmq import RabbitMQ, is_installed, skip_without_rabbitmq

from tests.contract.brokers import LONG_VISIBILITY_TIMEOUT, Broker, make_broker, measure_recovery
from tests.contract.celery_app import QUEUES


@pytest.fixture(scope="session")
def state_dir() -> Path:
    return Path(os.environ["BATON_STATE_DIR"]) / "contract"


@pytest.fixture(scope="session", autouse=True)
def rabbitmq(state_dir: Path) -> Iterator[RabbitMQ]:
    """Start RabbitMQ on the side: it takes ten seconds, in which the tests of Valkey can run."""
    service = RabbitMQ(state_dir)
    if is_installed():
        # Anew each time: queues may be declared otherwise by now, and a node that was stopped in its very first start
        # comes back without quorum queues.
        service.destroy()
        service.launch()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def valkey(state_dir: Path) -> Iterator[Valkey]:
    with Valkey(state_dir) as service:
        yield service


@pytest.fixture(scope="session", params=["valkey", "rabbitmq"])
def session_broker(request: pytest.FixtureRequest) -> Broker:
    if request.param == "rabbitmq":
        skip_without_rabbitmq()
    return make_broker(request.getfixturevalue(request.param))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the recovery from a killed worker last: on Valkey it goes on in the background for half a minute."""
    items.sort(key=lambda item: item.path.name == "test_recovery.py")


@pytest.fixture(scope="session", autouse=True)
def _recovery_on_valkey(
    request: pytest.FixtureRequest, state_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Future[float] | None]:
    if not any(item.path.name == "test_recovery.py" for item in request.session.items):
        yield None
        return
    with Valkey(state_dir / "recovery") as service, ThreadPoolExecutor() as threads:
        broker = make_broker(service, visibility_timeout=None)
        broker.empty()
        yield threads.submit(measure_recovery, broker, tmp_path_factory.mktemp("recovery"))


@pytest.fixture
def recovery_seconds(
    request: pytest.FixtureRequest, _recovery_on_valkey: Future[float] | None, tmp_path: Path
) -> Callable[[str], float]:
    """Return the time from a kill -9 to the next run of the message."""

    def measure(name: str) -> float:
        if name == "valkey":
            assert _recovery_on_valkey is not None
            return _recovery_on_valkey.result(timeout=90)
        skip_without_rabbitmq()
        broker = make_broker(request.getfixturevalue("rabbitmq"), visibility_timeout=None)
        broker.empty()
        return measure_recovery(broker, tmp_path)

    return measure


@pytest.fixture
def broker(session_broker: Broker) -> Broker:
    session_broker.empty()
    return session_broker


@pytest.fixture(scope="session")
def _session_worker(session_broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    session_broker.empty()
    # Any worker returns what is overdue in its eyes, of others, too: this one is there all the time.
    process = session_broker.start_worker(
        tmp_path_factory.mktemp("worker"), QUEUES[1], concurrency=2, visibility_timeout=LONG_VISIBILITY_TIMEOUT
    )
    with session_broker.running(process):
        yield process


@pytest.fixture
def worker(broker: Broker, _session_worker: Process) -> Process:
    """Run a worker for the queue ``contract.other``; the tests share it, so they must leave it alive."""
    assert _session_worker.exit_code is None, _session_worker.output()
    return _session_worker


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a task writes down its runs."""
    return tmp_path / "runs"
