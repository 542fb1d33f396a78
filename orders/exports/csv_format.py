"""CSV as Excel reads it: UTF-8 with BOM, CRLF, quoted as RFC 4180 says; PostgreSQL writes the rows.

Invariant: a cell of text never begins with what a spreadsheet takes for a formula (F12); numbers stay numbers (F87).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from orders.exports.columns import Column, Kind, Source
from orders.exports.counted_file import CountedFile, Rows
from orders.exports.sql_text import FORMULA_START, ILLEGIBLE, is_formula_like, legible, wall_clock

BOM = b"\xef\xbb\xbf"


class CsvFormat:
    """How rows are selected, and written as CSV."""

    suffix: ClassVar[str] = "csv"
    content_type: ClassVar[str] = "text/csv; charset=utf-8"
    copy_options: ClassVar[str] = "FORMAT csv"

    def row_sql(self, source: Source) -> str:
        """Return the select list: one expression per cell."""
        columns = zip(source.aliases, source.columns, strict=True)
        return ", ".join(_cell(alias, column.kind) for alias, column in columns)

    def open(self, path: Path, columns: Sequence[Column]) -> CountedFile:
        """Create the file with its header."""
        return CsvFile(path, [str(column.title) for column in columns])


class CsvFile(CountedFile):
    """A CSV file that is being written."""

    def __init__(self, path: Path, titles: Sequence[str]) -> None:
        super().__init__(path)
        self._file.write(BOM + ",".join(_quoted(title) for title in titles).encode() + b"\r\n")

    def append(self, rows: Rows) -> None:
        """Write rows as COPY sent them: the LF that ends each message becomes CRLF, those within cells stay."""
        self._file.write(b"\r\n".join([row[:-1] for row in rows]) + b"\r\n")
        self.row_count += len(rows)


def _cell(alias: str, kind: Kind) -> str:
    if kind is Kind.MOMENT:
        return wall_clock(alias)
    if kind in (Kind.AMOUNT, Kind.LABEL):
        return alias
    careful = f"CASE WHEN {is_formula_like(alias)} THEN '''' ELSE '' END || {legible(alias)}"
    return f"CASE WHEN {alias} ~ '{ILLEGIBLE}|{FORMULA_START}' THEN {careful} ELSE {alias} END"


def _quoted(title: str) -> str:
    return '"' + title.replace('"', '""') + '"'
