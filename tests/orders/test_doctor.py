from pathlib import Path
from typing import Any

from baton_messaging.extend.doctor import Status

from orders import doctor


def test_a_storage_that_can_be_written_keeps_no_trace_of_the_question(settings: Any, tmp_path: Path) -> None:
    settings.STORAGES = _stored_at(settings, tmp_path)
    (line,) = doctor.examine_storage()
    assert line.status is Status.OK
    assert list(tmp_path.iterdir()) == []


def test_a_storage_that_cannot_be_written_is_found(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.STORAGES = _stored_at(settings, tmp_path / "file")
    (line,) = doctor.examine_storage()
    assert (line.status, str(line.owner)) == (Status.FINDING, "Shop team <shop@example.com>")
    assert 'STORAGES["exports"]' in str(line.remedy)


def test_a_disk_without_room_is_found(settings: Any, tmp_path: Path, monkeypatch: Any) -> None:
    settings.EXPORTS = {**settings.EXPORTS, "SCRATCH_DIR": tmp_path / "not" / "yet"}
    (line,) = doctor.examine_scratch_folder()
    assert line.status is Status.OK
    monkeypatch.setattr(doctor, "MIN_FREE_BYTES", 1 << 60)
    (line,) = doctor.examine_scratch_folder()
    assert line.status is Status.FINDING


def _stored_at(settings: Any, folder: Path) -> dict[str, Any]:
    options = {**settings.STORAGES["exports"]["OPTIONS"], "location": folder}
    return {**settings.STORAGES, "exports": {**settings.STORAGES["exports"], "OPTIONS": options}}
