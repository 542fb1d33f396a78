"""A storage for exports refuses, or is slow, when a file says so."""

import errno
import os
import time
from pathlib import Path
from typing import Any

from django.core.files.storage import FileSystemStorage


class Moody(FileSystemStorage):
    """Refuses with an error of the system, or is slow, when a file says so."""

    def _save(self, name: str, content: Any) -> str:
        mood = mood_file().read_text() if mood_file().exists() else ""
        if number := getattr(errno, mood, None):
            raise OSError(number, os.strerror(number), self.path(name))
        if mood == "slow":
            time.sleep(20)
        return str(super()._save(name, content))  # type: ignore[misc]  # not in the stubs


def mood_file() -> Path:
    return Path(os.environ["BATON_STATE_DIR"]) / "storage-mood"
