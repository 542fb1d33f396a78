"""The check of a storage, on folders in bad states, and on one that is no folder."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from baton_messaging.health.condition import Condition
from baton_messaging.health.storage import FOLDER, ID_FILE, storage_health
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, InMemoryStorage


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 100 kB, which only root may."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(tmp_path)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a file system")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_file_comes_back_and_none_is_left(tmp_path: Path) -> None:
    storage = FileSystemStorage(location=tmp_path)

    health = storage_health("exports", storage)

    assert (health.condition, health.said, health.server) == (Condition.OK, "", str(tmp_path))
    assert health.facts["identity"] == (tmp_path / ID_FILE).read_text()
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_two_processes_with_one_storage_find_one_id_and_others_another(tmp_path: Path) -> None:
    here, elsewhere = FileSystemStorage(location=tmp_path / "a"), FileSystemStorage(location=tmp_path / "b")

    with ThreadPoolExecutor(8) as threads:
        ids = {health.facts["identity"] for health in threads.map(storage_health, ["exports"] * 8, [here] * 8)}

    assert len(ids) == 1
    assert storage_health("exports", elsewhere).facts["identity"] not in ids


def test_storage_that_is_no_folder_has_an_id_too() -> None:
    storage = InMemoryStorage()

    first, second = storage_health("exports", storage), storage_health("exports", storage)

    assert first.condition is second.condition is Condition.OK
    assert len(first.facts["identity"]) == 36
    assert first.facts["identity"] == second.facts["identity"]


def test_what_a_killed_check_has_left_is_deleted_later(tmp_path: Path) -> None:
    storage = FileSystemStorage(location=tmp_path)
    left = tmp_path / storage.save(f"{FOLDER}/gone.1", ContentFile(b"x"))
    os.utime(left, (0, 0))

    storage_health("exports", storage)

    assert not left.exists()


def test_full_disk_is_full(small_disk: Path) -> None:
    storage = FileSystemStorage(location=small_disk)
    assert storage_health("exports", storage).condition is Condition.OK
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "ballast").write_bytes(b"x" * 200_000)

    health = storage_health("exports", storage)

    assert health.condition is Condition.FULL
    assert health.said.startswith("No space left on device")


def test_read_only_disk_takes_no_writes(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    health = storage_health("exports", FileSystemStorage(location=small_disk))

    assert health.condition is Condition.READ_ONLY


def test_folder_that_is_a_file_is_different(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    health = storage_health("exports", FileSystemStorage(location=tmp_path / "file"))

    assert health.condition is Condition.DIFFERENT
