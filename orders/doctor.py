"""What the doctor asks about exports: can their files be written, and is there room?"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from uuid import uuid4

from baton_messaging.extend import owner_of
from baton_messaging.extend.doctor import Diagnosis, examines, observed
from django.conf import settings
from django.core.files.base import ContentFile

from orders.exports.files import storage

MIN_FREE_BYTES: Final = 1 << 30  # an export of ten million rows takes about that


@examines("storage of exports")
def examine_storage() -> Iterator[Diagnosis]:
    """Write a file into the storage, and delete it."""
    trouble = ""
    try:
        files = storage()
        files.delete(files.save(f"doctor-{uuid4()}", ContentFile(b"can this be written?")))
    except Exception as error:  # each storage has errors of its own
        trouble = f"{type(error).__name__}: {getattr(error, 'strerror', None) or 'see the storage'}"
    yield observed(
        not trouble,
        "storage of exports",
        found=trouble or "a file was written and deleted",
        wanted="files can be written and deleted",
        remedy='Look at STORAGES["exports"]: its folder, rights and room, or its service.',
        owner=owner_of("orders.build_export"),
    )


@examines("scratch folder of exports")
def examine_scratch_folder() -> Iterator[Diagnosis]:
    """Measure the room where files grow. Hazard: it is the disk of this machine that is measured, not a worker's."""
    folder = Path(settings.EXPORTS["SCRATCH_DIR"])
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    yield observed(
        free >= MIN_FREE_BYTES,
        "room for exports on this machine",
        found=f"{free / MIN_FREE_BYTES:,.1f} GiB free",
        wanted="1 GiB or more",
        remedy='Make room on the disk of EXPORTS["SCRATCH_DIR"], or move it.',
        owner=owner_of("orders.build_export"),
    )
