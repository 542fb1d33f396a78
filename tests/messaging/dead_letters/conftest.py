"""A real collector beside the real relay and worker."""

from collections.abc import Iterator

import pytest

from tests.processes import Process, manage_command, running
from tests.sample.tasks import REPAIRED


@pytest.fixture(scope="module")
def _collector(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    log = tmp_path_factory.mktemp("collector") / "collector.log"
    with running(manage_command("collect_dead_letters"), log=log, ready="collector_started") as process:
        yield process


@pytest.fixture
def collector(transactional_db: None, empty_broker: None, _collector: Process) -> Process:
    """Run one collector; the tests of a module share it, so they must leave it alive."""
    assert _collector.exit_code is None, _collector.output()
    return _collector


@pytest.fixture(autouse=True)
def nothing_repaired() -> Iterator[None]:
    """Begin with the fault in place; ``REPAIRED.touch()`` repairs it."""
    REPAIRED.unlink(missing_ok=True)
    yield
    REPAIRED.unlink(missing_ok=True)
