"""XLSX with typed cells. PostgreSQL writes the rows as XML; here they are only packed, so memory stays flat.

Invariants: text is stored as text, never as a formula (F12), and what looks like one keeps being text when a person
edits the cell (``quotePrefix``). Moments are Excel's day numbers on the project's clock, without a zone (F62). A sheet
holds at most 1,048,576 rows with its header, and less than 2 GiB, so that the archive needs no ZIP64; more rows go on
in further sheets.

*Source*: ECMA-376, part 1, chapter 18 (SpreadsheetML); "Excel specifications and limits".
"""

import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, ClassVar

from orders.exports import xlsx_parts
from orders.exports.columns import Column, Kind, Source
from orders.exports.counted_file import CountedFile, Rows
from orders.exports.sql_text import (
    FORMULA_START,
    ILLEGIBLE,
    MAX_EXCEL_CHARACTERS,
    fitting_excel,
    is_formula_like,
    legible,
    wall_clock,
)
from orders.exports.xlsx_parts import HEADER_ROW, ROW_MARK, Style, letters

MAX_SHEET_ROWS = 1_048_576  # with the header
MAX_SHEET_BYTES = 1_500_000_000  # of XML; ZIP64 begins at 2 GiB, and some programs read it with a warning
_COMPRESSION_LEVEL = 1  # of 9: a third larger than the usual 6, and several times faster

_MARK = ROW_MARK.encode()
_NEEDS_CARE = rf"[&<>\r\n]|{ILLEGIBLE}|_x|^\s|\s$|{FORMULA_START}"


class XlsxFormat:
    """How rows are selected, and packed as XLSX."""

    suffix: ClassVar[str] = "xlsx"
    content_type: ClassVar[str] = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    # One value per row, with signs that it cannot hold, so that COPY adds nothing to it.
    copy_options: ClassVar[str] = r"FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02', ESCAPE E'\x02'"

    def row_sql(self, source: Source) -> str:
        """Return the select list: one expression, the XML of a row."""
        columns = enumerate(zip(source.aliases, source.columns, strict=True), start=1)
        cells = (_cell(alias, column.kind, letters(number) + ROW_MARK) for number, (alias, column) in columns)
        return f"""'<row r="{ROW_MARK}">' || {" || ".join(cells)} || '</row>'"""

    def open(self, path: Path, columns: Sequence[Column]) -> CountedFile:
        """Create the file with its first sheet and header."""
        return XlsxFile(path, columns)


class XlsxFile(CountedFile):
    """A workbook that is being written, sheet by sheet."""

    def __init__(
        self,
        path: Path,
        columns: Sequence[Column],
        *,
        max_sheet_rows: int = MAX_SHEET_ROWS,
        max_sheet_bytes: int = MAX_SHEET_BYTES,
    ) -> None:
        super().__init__(path)
        self._columns = columns
        self._max_rows, self._max_bytes = max_sheet_rows - 1, max_sheet_bytes
        self._archive = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL)
        self._sheet_count = 0
        self._begin_sheet()

    def append(self, rows: Rows) -> None:
        """Write rows as COPY sent them; start another sheet where one is full."""
        room = self._max_rows - self._sheet_rows
        if self._sheet_bytes > self._max_bytes:
            room = 0
        if len(rows) > room:
            self._write(rows[:room])
            self._end_sheet()
            self._begin_sheet()
            self.append(rows[room:])
            return
        self._write(rows)

    def finish(self) -> None:
        """Write the parts that name the sheets, and the archive's directory."""
        self._end_sheet()
        for name, content in xlsx_parts.parts_around(self._sheet_count):
            self._archive.writestr(name, content)
        self._archive.close()

    def abandon(self) -> None:
        """Close the archive as it is, on a disk that may be full."""
        for close in (self._sheet.close, self._archive.close):
            with suppress(OSError, ValueError):
                close()

    def _begin_sheet(self) -> None:
        self._sheet_count += 1
        self._sheet_rows = self._sheet_bytes = 0
        self._sheet: IO[bytes] = self._archive.open(xlsx_parts.sheet_name(self._sheet_count), "w")
        self._sheet.write(xlsx_parts.sheet_start(self._columns, is_first=self._sheet_count == 1))

    def _end_sheet(self) -> None:
        self._sheet.write(xlsx_parts.SHEET_END)
        self._sheet.close()

    def _write(self, rows: Rows) -> None:
        first = HEADER_ROW + 1 + self._sheet_rows
        block = b"".join(bytes(row).replace(_MARK, b"%d" % number) for number, row in enumerate(rows, first))
        self._sheet.write(block)
        self._sheet_rows += len(rows)
        self._sheet_bytes += len(block)
        self.row_count += len(rows)


def _cell(alias: str, kind: Kind, reference: str) -> str:
    at = f'<c r="{reference}"'
    if kind is Kind.MOMENT:
        cell = f"""'{at} s="{Style.MOMENT}"><v>' || {_day_number(alias)} || '</v></c>'"""
    elif kind is Kind.AMOUNT:
        cell = f"""'{at} s="{Style.AMOUNT}"><v>' || {alias} || '</v></c>'"""
    elif kind is Kind.LABEL:
        cell = f"""'{at} s="{Style.CODE}" t="inlineStr"><is><t>' || {alias} || '</t></is></c>'"""
    else:
        cell = _text_cell(alias, Style.CODE if kind is Kind.CODE else Style.TEXT, at)
    return f"coalesce({cell}, '{at}/>')"


def _text_cell(alias: str, style: Style, at: str) -> str:
    """Write most text as it is; look closely only at what one regular expression picks out."""
    chosen = f"CASE WHEN {is_formula_like(alias)} THEN '{style.quoted}' ELSE '{style}' END"
    careful = (
        f"""'{at} s="' || {chosen} || '" t="inlineStr"><is><t xml:space="preserve">'"""
        f""" || {_escaped(legible(fitting_excel(alias)))} || '</t></is></c>'"""
    )
    plain = f"""'{at} s="{style}" t="inlineStr"><is><t>' || {alias} || '</t></is></c>'"""
    needs_care = f"octet_length({alias}) > {MAX_EXCEL_CHARACTERS} OR {alias} ~ '{_NEEDS_CARE}'"
    return f"CASE WHEN {alias} = '' THEN '{at}/>' WHEN {needs_care} THEN {careful} ELSE {plain} END"


def _escaped(text: str) -> str:
    """Escape for XML, and the underscore of what Excel would decode, such as _x0041_ (ST_Xstring)."""
    text = f"regexp_replace({text}, '_(?=x[0-9A-Fa-f]{{4}}_)', '_x005F_', 'g')"
    for sign, escape in (("'&'", "&amp;"), ("'<'", "&lt;"), ("'>'", "&gt;"), (r"E'\n'", "&#10;"), (r"E'\r'", "&#13;")):
        text = f"replace({text}, {sign}, '{escape}')"
    return text


def _day_number(moment: str) -> str:
    return f"(extract(epoch FROM {wall_clock(moment)})::float8 / 86400 + {xlsx_parts.DAY_NUMBER_OF_1970})"
