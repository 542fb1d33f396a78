"""The plugins of this suite: what a developer runs, on a project of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from baton_dev.servers.embedded import Postgres, Valkey

pytest_plugins = ["baton_dev.testing.distribution", "baton_dev.testing.fixtures"]


@pytest.fixture
def state_dir(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "state"
    yield path
    Postgres(path).destroy()
    Valkey(path).destroy()
