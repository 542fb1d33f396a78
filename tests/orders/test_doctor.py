from pathlib import Path
from typing import Any

from baton_messaging.extend.doctor import Status
from baton_messaging.extend.health import Condition, Deadline

from orders import doctor
from orders.health import check_exports


def test_a_storage_that_can_be_written_keeps_nothing_of_the_question_but_its_id(settings: Any, tmp_path: Path) -> None:
    settings.STORAGES = _stored_at(settings, tmp_path)
    assert check_exports(Deadline.after(5)).condition is Condition.OK
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [".baton-storage-id"]


def test_a_storage_that_cannot_be_written_is_found(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.STORAGES = _stored_at(settings, tmp_path / "file")
    health = check_exports(Deadline.after(5))
    assert health.condition not in (Condition.OK, Condition.NOT_KNOWN)
    assert str(tmp_path / "file") in health.said


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
