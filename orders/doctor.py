"""What the doctor asks about exports: is there room where they grow? Their storage is checked in ``health.py``."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from baton_messaging.extend import owner_of
from baton_messaging.extend.doctor import Diagnosis, examines, observed
from django.conf import settings

MIN_FREE_BYTES: Final = 1 << 30  # an export of ten million rows takes about that


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
