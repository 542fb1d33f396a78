"""Storages that break."""

import errno
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.core.files.storage import FileSystemStorage


class WithoutRename(FileSystemStorage):
    """Takes a file by reading it, as a remote storage does; ``on_last_block`` is called before the last one is kept."""

    def _save(self, name: str, content: Any) -> str:
        blocks = list(content.chunks())
        for block in blocks[:-1]:
            self._keep(name, block)
        self.on_last_block()
        self._keep(name, blocks[-1])
        return name

    def on_last_block(self) -> None: ...

    def _keep(self, name: str, block: bytes) -> None:
        path = Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(block)


class FailsOnTheLastByte(WithoutRename):
    def on_last_block(self) -> None:
        raise ConnectionResetError("the storage hung up")


class LosesTheLastByte(WithoutRename):
    def _keep(self, name: str, block: bytes) -> None:
        super()._keep(name, block[:-1])


class LibraryError(Exception):
    """As the libraries of storages have them: neither an OSError nor any other that we could name."""


class Away(FileSystemStorage):
    def _save(self, name: str, content: Any) -> str:
        raise LibraryError

    def open(self, name: str, mode: str = "rb") -> Any:
        raise LibraryError


class Full(FileSystemStorage):
    def _save(self, name: str, content: Any) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")


class Broken(FileSystemStorage):
    def delete(self, name: str) -> None:
        raise ConnectionResetError("the storage hung up")


class Deaf(FileSystemStorage):
    """Takes a minute, and swallows what is meant to stop it, as some client libraries do."""

    def _save(self, name: str, content: Any) -> str:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(SoftTimeLimitExceeded):
                threading.Event().wait(deadline - time.monotonic())
        raise TimeoutError("the storage never answered")
