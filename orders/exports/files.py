"""Where the files of exports are: a local scratch folder while they grow, Django's storage once they are whole.

Invariant: nothing is put into the storage before it is whole and counted. A local folder then gets it by one rename; a
storage without rename (S3) gets one upload, which its service shows only when it is complete. What the row names is
the only file that anybody is given.

Names are made of the export's id and the attempt, never of anything that a person typed. Two attempts have two names,
so a worker that lost its lease cannot overwrite the file of the one that took over.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from uuid import UUID

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.files import File
from django.core.files.storage import Storage, storages

from orders.exports.errors import FileIncomplete, HoldLost, StorageFailed
from orders.exports.heartbeat import Heartbeat
from orders.exports.lease import Hold
from orders.exports.models import Export
from orders.exports.states import ExportState, Format

log = structlog.get_logger(__name__)

STORAGE_ALIAS = "exports"

_SCRATCH = re.compile(r"([0-9a-f-]{36})-(\d+)-\d+\.[a-z]+").fullmatch  # export, attempt, process


class FinishedFile(File):  # type: ignore[type-arg]
    """A whole file on its way into the storage. A storage on the same disk takes it by rename, any other reads it."""

    def __init__(self, path: Path, heartbeat: Heartbeat) -> None:
        self._source = path.open("rb")
        super().__init__(self._source, name=path.name)
        self._path = path
        self._heartbeat = heartbeat

    def temporary_file_path(self) -> str:
        """Return the path: Django's local storage renames a file that has one."""
        return str(self._path)

    def read(self, size: int = -1) -> bytes:
        """Read on while the export is ours."""
        self._heartbeat.check()
        return self._source.read(size)


def storage() -> Storage:
    """Return the storage of finished files (``STORAGES["exports"]``)."""
    return storages[STORAGE_ALIAS]


def file_name(export_id: UUID, attempt: int, suffix: str) -> str:
    """Return the name that an attempt's file has in the storage."""
    return f"{export_id}-{attempt}.{suffix}"


@contextmanager
def scratch_path(hold: Hold, suffix: str) -> Iterator[Path]:
    """Lend a path for the growing file; whatever is there afterwards goes."""
    folder = Path(settings.EXPORTS["SCRATCH_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    sweep_scratch(folder)
    path = folder / f"{hold.export_id}-{hold.attempt}-{os.getpid()}.{suffix}"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def sweep_scratch(folder: Path) -> None:
    """Delete what killed builders have left: the files of attempts that hold no export any more."""
    found = {path: (UUID(match[1]), int(match[2])) for path in folder.iterdir() if (match := _SCRATCH(path.name))}
    # Asked after looking: a builder that begins meanwhile has its export first and its file later.
    running = Export.objects.filter(state=ExportState.RUNNING, pk__in={export_id for export_id, _ in found.values()})
    held = set(running.values_list("pk", "attempt_count"))
    for path, hold in found.items():
        if hold not in held:
            path.unlink(missing_ok=True)  # another worker sweeps, too
            log.info("export_scratch_deleted", file_name=path.name)


def put_in_place(path: Path, name: str, heartbeat: Heartbeat) -> int:
    """Hand the file over and return its size in bytes. Raises StorageFailed, FileIncomplete, HoldLost.

    What a failed attempt at it has left in the storage is deleted.
    """
    size = path.stat().st_size
    try:
        with FinishedFile(path, heartbeat) as file, _errors_of_storage():
            kept_name = storage().save(name, file)
            _demand_whole(name, kept_name, size)
    except BaseException:
        discard(name)
        raise
    return size


def discard(name: str) -> None:
    """Delete a file that no row names. If the storage refuses, housekeeping tries again later."""
    try:
        storage().delete(name)
    except Exception:
        log.exception("export_file_not_deleted", file_name=name)


def delete_all_files(export: Export) -> None:
    """Delete the file of every attempt, also those that a killed worker put in place and could not tell of."""
    for attempt in range(1, export.attempt_count + 1):
        storage().delete(file_name(export.pk, attempt, Format(export.format).value))


def open_file(export: Export) -> IO[Any]:
    """Open the file of an export that is ready. Raises FileNotFoundError, StorageFailed."""
    with _errors_of_storage():
        return storage().open(export.file_name, "rb")


@contextmanager
def _errors_of_storage() -> Iterator[None]:
    """Turn what a storage raises into StorageFailed, but for what has a meaning of its own."""
    try:
        yield
    except (HoldLost, FileIncomplete, FileNotFoundError, SoftTimeLimitExceeded):
        raise
    except Exception as error:
        raise StorageFailed from error


def _demand_whole(name: str, kept_name: str, size: int) -> None:
    if kept_name != name:  # Django gives another name when this one is taken
        discard(kept_name)
        raise FileExistsError(f"Expected no file {name} in the storage, found one.")
    stored_size = storage().size(name)
    if stored_size != size:
        raise FileIncomplete(expected=size, got=stored_size, what="bytes")
