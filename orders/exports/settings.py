"""Exports: limits, leases, retention, and where the files are. Every number with its unit and the reason beside it.

Web and worker on different machines need a storage that both reach: put its class and options in the place of
STORAGES["exports"], as for any Django storage. The scratch folder is always local to the worker.

The project's settings call these two; nothing here needs settings itself.
"""

from pathlib import Path
from typing import Any


def exports_storage(folder: Path) -> dict[str, Any]:
    """Return STORAGES["exports"]: files below the folder, which must be outside of MEDIA_ROOT and STATIC_ROOT.

    On purpose: only the view that asks who wants it gives a file out.
    """
    return {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": folder / "ready", "file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
    }


def exports_settings(folder: Path) -> dict[str, Any]:
    """Return the setting EXPORTS."""
    return {
        # Where files grow. On the disk of the local storage, so that a finished file moves there by one rename.
        "SCRATCH_DIR": folder / "scratch",
        # Waiting or running at a time: per person, so that nobody fills the lane; in all, so that the wait stays
        # bearable.
        "MAX_ACTIVE_PER_PERSON": 2,
        "MAX_ACTIVE": 50,
        # Seconds between two notes of progress, and until an export without any is taken up by another worker. Others
        # see it move every second, also where a note is late; a worker that is merely slow misses sixty before that.
        "HEARTBEAT_SECONDS": 0.25,
        "LEASE_SECONDS": 15,
        # Seconds that one export may take, and after which its process is killed if it did not stop by itself. Two
        # million rows take a minute or two; a slow storage may take many more. Both stay under RabbitMQ's consumer
        # timeout (F41, baton.E008).
        "SOFT_TIME_LIMIT_SECONDS": 1_200,
        "TIME_LIMIT_SECONDS": 1_260,
        # Workers that one export may cost before it is given up as the one that kills them.
        "MAX_ATTEMPTS": 3,
        # Hours before its end at which a mail reminds the person who asked for it; none if it is kept no longer.
        "REMIND_HOURS": 24,
        # Days a file can be downloaded, and days that the row of a deleted one tells of it.
        "RETENTION_DAYS": 7,
        "ROW_RETENTION_DAYS": 90,
    }
