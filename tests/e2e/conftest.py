from collections.abc import Iterator

import pytest

from tests.e2e.baton import Baton


@pytest.fixture(scope="package")
def _stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Baton]:
    baton = Baton(tmp_path_factory.mktemp("e2e") / "baton")
    try:
        baton.wait_until_up()
        yield baton
    finally:
        baton.stop()


@pytest.fixture
def baton(_stack: Baton) -> Baton:
    """Run everything once; the tests kill single processes, and the supervisor brings them back."""
    return _stack
