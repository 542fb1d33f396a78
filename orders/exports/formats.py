"""The formats an export can have. A format of your own: a class like these two, and a line here."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol

from orders.exports.columns import Column, Source
from orders.exports.counted_file import CountedFile
from orders.exports.csv_format import CsvFormat
from orders.exports.states import Format
from orders.exports.xlsx_format import XlsxFormat


class FileFormat(Protocol):
    """What a format has to say: how rows are selected, and how they are packed."""

    suffix: ClassVar[str]
    content_type: ClassVar[str]
    copy_options: ClassVar[str]

    def row_sql(self, source: Source) -> str:
        """Return the select list of COPY, over the source's aliases."""
        ...

    def open(self, path: Path, columns: Sequence[Column]) -> CountedFile:
        """Create the file with its header."""
        ...


_FORMATS: dict[str, FileFormat] = {Format.CSV.value: CsvFormat(), Format.XLSX.value: XlsxFormat()}


def format_of(name: str) -> FileFormat:
    """Return the format with this name."""
    return _FORMATS[name]
