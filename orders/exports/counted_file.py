"""A file on the local disk that knows how many rows it holds. Complete only after ``close``."""

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TypeAlias

Rows: TypeAlias = Sequence[bytes | memoryview]


class CountedFile:
    """The base of the formats' files. Leaving the block by an error closes the file and finishes nothing."""

    def __init__(self, path: Path) -> None:
        self.row_count = 0
        self._file: BinaryIO = path.open("xb")

    def append(self, rows: Rows) -> None:
        """Write rows as COPY sent them."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write what follows the last row."""

    def abandon(self) -> None:
        """Let go of what is open; the file is going to be thrown away."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_class: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            if error is not None:
                self.abandon()
                return
            self.finish()
            self._file.flush()
            os.fsync(self._file.fileno())  # what is called ready has to outlive a power cut
