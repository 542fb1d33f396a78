"""The check of a storage stores a small file, reads it back and deletes it; an id file tells two storages apart.

For the storages that an app names, in its ``health.py``:

    @health_check("exports")
    def check_exports(deadline: Deadline) -> Health:
        return storage_health("exports", storages["exports"])

Two processes that see the same storage find the same id in ``.baton-storage-id``. A worker that writes where the web
does not look finds another one.

Hazard: clients of storages have time-outs of their own; a file system that hangs (NFS) keeps the thread until it is
back.
"""

import os
import shutil
import socket
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any, Final
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage
from django.utils import timezone

from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.refusals import classify

ID_FILE: Final = ".baton-storage-id"
FOLDER: Final = ".baton-health"
#: Files of checks that were killed are deleted by those that come after.
_LEFT_AFTER: Final = timedelta(hours=1)


def storage_health(name: str, storage: Storage) -> Health:
    """Return whether files come back as they were stored, and which storage it is."""
    facts: dict[str, Any] = {"storage": type(storage).__name__}
    location = str(storage.location) if isinstance(storage, FileSystemStorage) else ""
    try:
        facts |= _room(location) if location else {}
        facts["identity"] = _id_of(storage)
        started = monotonic()
        comes_back = _store_and_read(storage)
        facts["seconds"] = round(monotonic() - started, 4)
    except Exception as error:  # libraries of storages have errors of their own
        refusal = classify(error)
        return Health(name, refusal.condition, refusal.said, location, facts=facts)
    if not comes_back:
        return Health(name, Condition.DIFFERENT, "a file came back with other content", location, facts=facts)
    return Health(name, Condition.OK, server=location, facts=facts)


def _store_and_read(storage: Storage) -> bool:
    """Store, read and delete a file that no other process names."""
    content = os.urandom(64)
    name = f"{FOLDER}/{socket.gethostname()}.{os.getpid()}"
    storage.delete(name)  # of a process that was killed here
    stored = storage.save(name, ContentFile(content))
    try:
        with storage.open(stored, "rb") as file:
            return bool(file.read() == content)
    finally:
        storage.delete(stored)
        with suppress(Exception):  # not every storage lists its files
            _delete_left(storage)


def _delete_left(storage: Storage) -> None:
    before = timezone.now() - _LEFT_AFTER
    for left in storage.listdir(FOLDER)[1]:
        if storage.get_modified_time(f"{FOLDER}/{left}") < before:
            storage.delete(f"{FOLDER}/{left}")


def _id_of(storage: Storage) -> str:
    """Return the storage's id; give it one if it has none. Who comes second takes the first's."""
    if not storage.exists(ID_FILE):
        if isinstance(storage, FileSystemStorage):
            _create_local(Path(storage.path(ID_FILE)))
        else:
            stored = storage.save(ID_FILE, ContentFile(str(uuid4()).encode()))
            if stored != ID_FILE:  # another process was faster
                storage.delete(stored)
    with storage.open(ID_FILE, "rb") as file:
        return str(file.read(64).decode("ascii", "replace")).strip()


def _create_local(path: Path) -> None:
    """Put a whole file there at once, or leave the one that is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{uuid4()}")
    draft.write_text(str(uuid4()))
    try:
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


def _room(location: str) -> dict[str, Any]:
    existing = next((path for path in (Path(location), *Path(location).parents) if path.exists()), Path("/"))
    usage = shutil.disk_usage(existing)
    return {"free_bytes": usage.free, "total_bytes": usage.total}
