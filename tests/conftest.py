"""Fixtures that every part of the tests may use."""

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from celery import current_app
from django.db import connection
from django.utils import translation
from xdist.scheduler import LoadFileScheduling

from messaging.transport import looking
from messaging.transport.redis import Channel as RedisChannel
from tests import emptying
from tests.browser import browser, open_as, open_page  # noqa: F401 - here only: one process can have one browser
from tests.processes import Process, manage_command, running, wait_until_database_is_idle, worker_command

emptying.install()

# Folders whose tests share what takes long to start: a whole stack, a RabbitMQ. They stay in one process, and begin
# first, so that no process is left alone with them at the end.
TOGETHER = ("tests/e2e", "tests/contract")
LONG = (
    "tests/e2e",
    "tests/e2e/test_thousand_customers",  # nobody should have to wait for their mails
    "tests/contract",
    "tests/orders/exports/test_workers",
    "tests/config/local/test_supervise",
)


class FileByFile(LoadFileScheduling):
    """Keep the tests of a file, and of some folders, in one process; hand them out in the order they were found in."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        for folder in TOGETHER:
            if nodeid.startswith(f"{folder}/"):
                return folder
        return str(super()._split_scope(nodeid))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""

    def place(item: pytest.Item) -> int:
        places = [place for place, start in enumerate(LONG) if item.nodeid.startswith(start)]
        return max(places, default=len(LONG))

    items.sort(key=place)  # keeps the random order otherwise


hypothesis.settings.register_profile("thorough", max_examples=2_000)  # pytest --hypothesis-profile=thorough


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileByFile:
    """Share the tests out over the processes of ``-n``."""
    return FileByFile(config, log)


@pytest.fixture(autouse=True)
def _speak_english() -> None:
    """Start in the default language: a request of an earlier test may have left another one active."""
    translation.deactivate()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """End what is still connected before the database is dropped: a thread that answers nobody any more."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(scope="module")
def _worker(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    queues = [name for name in current_app.amqp.queues if name != "dead_letters"]
    log = tmp_path_factory.mktemp("worker") / "worker.log"
    with running(worker_command(*queues), log=log, ready=" ready.") as process:
        yield process


@pytest.fixture(scope="module")
def _relay(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    log = tmp_path_factory.mktemp("relay") / "relay.log"
    with running(manage_command("relay"), log=log, ready="relay_started") as process:
        yield process


def empty_queues() -> None:
    """Drop what waits, and what a killed worker of an earlier test had taken: its lease would bring it back later."""
    with current_app.connection_for_write() as broker:
        channel = broker.default_channel
        for queue in current_app.amqp.queues.values():
            queue.bind(channel).declare()
            queue.bind(channel).purge()
        if isinstance(channel, RedisChannel):
            channel.client.delete(channel.unacked_key, channel.unacked_index_key)


@pytest.fixture
def empty_broker() -> None:
    """Start with nothing in the broker."""
    empty_queues()


@pytest.fixture
def patient_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the broker's answer, however busy the machine is: what is tested is the answer, not the time."""
    if looking._look is not None:  # a look of the test before
        looking._look.exception(timeout=10)
    monkeypatch.setattr(looking, "_last", None)
    monkeypatch.setattr(looking.look_at, "__kwdefaults__", {"seconds": 10.0})


@pytest.fixture
def worker(transactional_db: None, empty_broker: None, _worker: Process) -> Iterator[Process]:
    """Run one worker for every queue of the project; the tests of a module share it, so they must leave it alive."""
    assert _worker.exit_code is None, _worker.output()
    yield _worker
    empty_queues()
    wait_until_database_is_idle()


@pytest.fixture
def relay(transactional_db: None, empty_broker: None, _relay: Process) -> Iterator[Process]:
    """Run one relay; the tests of a module share it, so they must leave it alive."""
    assert _relay.exit_code is None, _relay.output()
    yield _relay
    wait_until_database_is_idle()
