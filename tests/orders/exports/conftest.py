"""Fixtures of the exports' tests: a storage and a scratch folder of their own for each test."""

from pathlib import Path
from typing import Any

import pytest

from tests.orders import factories


@pytest.fixture
def committed_catalogue(transactional_db: None) -> None:
    factories.products()


@pytest.fixture
def storage_folder(settings: Any, tmp_path: Path) -> Path:
    """Keep the files of this test by themselves; for what runs in the test's own process."""
    folder = tmp_path / "ready"
    backend = {**settings.STORAGES["exports"], "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "exports": backend}
    settings.EXPORTS = {**settings.EXPORTS, "SCRATCH_DIR": tmp_path / "scratch"}
    return folder
