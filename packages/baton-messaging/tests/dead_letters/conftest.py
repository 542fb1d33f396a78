"""The fault that a replay needs repaired."""

from collections.abc import Iterator

import pytest

from tests.sample.tasks import REPAIRED


@pytest.fixture(autouse=True)
def nothing_repaired() -> Iterator[None]:
    """Begin with the fault in place; ``REPAIRED.touch()`` repairs it."""
    REPAIRED.unlink(missing_ok=True)
    yield
    REPAIRED.unlink(missing_ok=True)
