"""What a cell may hold: the nasty strings, read back by programs that are not ours, in both formats."""

import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orders.exports import snapshot
from orders.exports.xlsx_format import MAX_SHEET_BYTES, MAX_SHEET_ROWS, XlsxFile, XlsxFormat
from orders.exports.xlsx_parts import ROW_MARK, letters
from tests.orders.exports.factories import COLUMNS, Row, written
from tests.orders.exports.readers import open_xlsx, read_csv, read_with_libre_office, read_xlsx


@pytest.fixture(autouse=True)
def _database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Read from the database. Nothing is written into it, so it need not be emptied after each test."""
    with django_db_blocker.unblock():
        yield


FORMULAS = [
    "=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1+1", "=cmd|'/c calc'!A0", "+81 3 1234",
]  # fmt: skip
LEGIBLE = [
    "plain", "Łódź 東京", "👩‍🚀 emoji", "שלום עולם", "مرحبا", "\u202eright to left", "a,b", 'say "hi"', "a;b",
    "line\nbreak", "carriage\rreturn", "both\r\nof them", "tab\there", "<b>&amp;</b>", "_x0041_", "_x0041", "x_x005F_y",
    "'quoted", "''", '"', " leading", "trailing ", "  ", "00123", "1e5", "1.50", "TRUE", "2026-01-01", "-5.00", "-5",
    r"\.", r"C:\new", "]]>", "\x7f\x9f", "e\u0301", "\ufeffbom", "\ue000private", "\u2028", "%s", "%%", "{0}",
]  # fmt: skip
ILLEGIBLE = {"a\x01b": "a\ufffdb", "\x0b": "\ufffd", "\x1f=": "\ufffd=", "\uffff": "\ufffd", "\ufffe!": "\ufffd!"}

# All that PostgreSQL can store, with what is dangerous more often than by chance.
nasty = st.lists(
    st.sampled_from([*FORMULAS, *LEGIBLE, *ILLEGIBLE])
    | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20),
    max_size=3,
).map("".join)


def shown(text: str) -> str:
    """What both formats show of a text: the same, but for what no file can hold."""
    return "".join("\ufffd" if (ord(c) < 32 and c not in "\t\n\r") or c in "\ufffe\uffff" else c for c in text)


def test_formulas_are_defused_in_csv_and_negative_numbers_are_not_harmed(tmp_path: Path) -> None:
    header, *rows = read_csv(written(tmp_path / "f.csv", [Row(text, code=text) for text in FORMULAS], "csv"))
    assert header == [str(column.title) for column in COLUMNS]
    for text, row in zip(FORMULAS, rows, strict=True):
        assert row[1:3] == ["'" + text, "'" + text]
        assert row[4] == "-5.00"
    assert [row[1] for row in read_csv(written(tmp_path / "n.csv", [Row("-5.00"), Row("-3")], "csv"))[1:]] == [
        "-5.00",
        "-3",
    ]


def test_formulas_are_text_in_xlsx_and_stay_text_when_edited(tmp_path: Path) -> None:
    sheet = open_xlsx(written(tmp_path / "f.xlsx", [Row(text, code=text) for text in FORMULAS], "xlsx")).worksheets[0]
    for number, text in enumerate(FORMULAS, start=2):
        for column in (2, 3):
            cell = sheet.cell(number, column)
            assert (cell.value, cell.data_type, cell.quotePrefix) == (text, "s", True)
        assert (sheet.cell(number, 5).value, sheet.cell(number, 5).data_type) == (-5, "n")


@pytest.mark.parametrize("file_format", ["csv", "xlsx"])
def test_every_script_and_sign_comes_back_as_it_is(tmp_path: Path, file_format: str) -> None:
    path = written(tmp_path / f"f.{file_format}", [Row(text) for text in LEGIBLE], file_format)
    rows: list[list[Any]] = read_csv(path) if file_format == "csv" else read_xlsx(path)
    assert [decoded(row[1], file_format) for row in rows[1:]] == LEGIBLE


@pytest.mark.parametrize("file_format", ["csv", "xlsx"])
def test_what_no_file_can_hold_shows_as_the_replacement_character(tmp_path: Path, file_format: str) -> None:
    path = written(tmp_path / f"f.{file_format}", [Row(text) for text in ILLEGIBLE], file_format)
    rows: list[list[Any]] = read_csv(path) if file_format == "csv" else read_xlsx(path)
    assert [row[1] for row in rows[1:]] == list(ILLEGIBLE.values())


@settings(
    max_examples=settings().max_examples // 16,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(texts=st.lists(nasty, min_size=1, max_size=60))
def test_generated_texts_come_back_cell_by_cell(tmp_path: Path, texts: list[str]) -> None:
    rows = [Row(text, code=text) for text in texts]
    for file_format in ("csv", "xlsx"):
        path = tmp_path / f"f.{file_format}"
        path.unlink(missing_ok=True)
        written(path, rows, file_format)
        found: list[list[Any]] = read_csv(path) if file_format == "csv" else read_xlsx(path)
        assert len(found) == len(texts) + 1
        for text, row in zip(texts, found[1:], strict=True):
            for cell in row[1:3]:
                assert without_guard(decoded(cell, file_format), shown(text), file_format) == shown(text)


def test_types_dates_amounts_and_codes(tmp_path: Path) -> None:
    moment = datetime(2026, 2, 28, 23, 59, 58, 999_999, tzinfo=UTC)
    rows = [Row("", code="007", moment=moment, amount=Decimal("1234567890.10")), Row(None, code=None, amount=None)]
    sheet = open_xlsx(written(tmp_path / "t.xlsx", rows, "xlsx")).worksheets[0]
    assert sheet.cell(2, 4).value == datetime(2026, 2, 28, 23, 59, 58)  # noqa: DTZ001 - Excel has no zones
    assert sheet.cell(2, 4).number_format == r"yyyy\-mm\-dd\ hh:mm:ss"
    assert (sheet.cell(2, 3).value, sheet.cell(2, 3).number_format) == ("007", "@")
    assert (sheet.cell(2, 5).value, sheet.cell(2, 5).number_format) == (1234567890.1, "#,##0.00")
    assert [sheet.cell(3, column).value for column in range(2, 6)] == [None] * 4
    assert read_csv(written(tmp_path / "t.csv", rows, "csv"))[1:] == [
        ["0", "", "007", "2026-02-28 23:59:58", "1234567890.10"],
        ["1", "", "", "", ""],
    ]


def test_a_cell_of_excels_longest_and_one_longer(tmp_path: Path) -> None:
    longest, astral = "x" * 32_767, "👩" * 16_383 + "x"
    texts = [longest, astral, longest + "y", "👩" * 20_000, "é" * 32_768]
    found = [row[1] for row in read_xlsx(written(tmp_path / "l.xlsx", [Row(text) for text in texts], "xlsx"))[1:]]
    assert found[:2] == [longest, astral]
    for text, cell in zip(texts[2:], found[2:], strict=True):
        assert len(cell.encode("utf-16-le")) // 2 <= 32_767
        assert cell.endswith("…")
        assert text.startswith(cell[:-1])
    assert [row[1] for row in read_csv(written(tmp_path / "l.csv", [Row(text) for text in texts], "csv"))[1:]] == texts


def test_libre_office_reads_the_workbook_cell_by_cell(tmp_path: Path) -> None:
    texts = [text for text in [*FORMULAS, *LEGIBLE, "x" * 32_767] if "\r" not in text]
    moment = datetime(2026, 2, 28, 23, 59, 58, tzinfo=UTC)
    path = written(tmp_path / "o.xlsx", [Row(text, moment=moment) for text in texts], "xlsx")
    header, *rows = read_with_libre_office(path, tmp_path / "office")
    assert header == [str(column.title) for column in COLUMNS]
    assert [row[1] for row in rows] == texts
    assert {tuple(row[2:]) for row in rows} == {("0042", "2026-02-28 23:59:58", "-5")}


def decoded(cell: Any, file_format: str) -> str:
    """Undo what Excel undoes and openpyxl does not: ST_Xstring, of which we write the escaped underscore only."""
    text = "" if cell is None else str(cell)
    return text.replace("_x005F_", "_") if file_format == "xlsx" else text


def without_guard(cell: str, text: str, file_format: str) -> str:
    return cell.removeprefix("'") if file_format == "csv" and cell == "'" + text else cell


@pytest.mark.parametrize("limit", [{"max_sheet_rows": 11}, {"max_sheet_bytes": 1_000}])
def test_what_a_sheet_cannot_hold_goes_on_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: dict[str, int]
) -> None:
    monkeypatch.setattr(snapshot, "ROWS_AT_ONCE", 7)
    monkeypatch.setattr(XlsxFormat, "open", lambda _self, path, columns: XlsxFile(path, columns, **limit))
    texts = [f"row {number}" for number in range(35)]
    sheets = open_xlsx(written(tmp_path / "s.xlsx", [Row(text) for text in texts], "xlsx")).worksheets
    assert len(sheets) >= 3
    assert all(sheet.max_row <= 11 or "max_sheet_rows" not in limit for sheet in sheets)
    assert {sheet.cell(1, 2).value for sheet in sheets} == {"Text"}
    assert {sheet.freeze_panes for sheet in sheets} == {"A2"}
    found = [row[1] for sheet in sheets for row in sheet.iter_rows(min_row=2, values_only=True)]
    assert found == texts


def test_every_row_and_cell_says_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller readers (xlsx2csv, pylightxl, exceljs) find no cell without it."""
    monkeypatch.setattr(XlsxFormat, "open", lambda _self, path, columns: XlsxFile(path, columns, max_sheet_rows=4))
    path = written(tmp_path / "s.xlsx", [Row("a"), Row(""), Row("\x03"), Row("=1"), Row("b")], "xlsx")
    with zipfile.ZipFile(path) as archive:
        sheets = [archive.read(name).decode() for name in archive.namelist() if "/sheet" in name]
    for sheet in sheets:
        assert ROW_MARK not in sheet
        rows = re.findall(r'<row r="(\d+)">(.*?)</row>', sheet)
        assert [int(number) for number, _cells in rows] == list(range(1, sheet.count("<row") + 1))
        for number, cells in rows:
            expected = [f"{letters(place)}{number}" for place in range(1, len(COLUMNS) + 1)]
            assert re.findall(r'<c r="(\w+)"', cells) == expected
            assert cells.count("<c ") == len(expected)


def test_the_limits_are_excels() -> None:
    assert MAX_SHEET_ROWS == 2**20
    assert MAX_SHEET_BYTES < 2**31
