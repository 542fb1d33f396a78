"""A state directory that leaves nothing behind, also where root keeps the data elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from baton_dev.servers.embedded import Postgres, Valkey


@pytest.fixture
def state_dir(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "state"
    yield path
    Postgres(path).destroy()
    Valkey(path).destroy()
