"""The fixed XML of a workbook around its rows.

Rows and cells carry their references (``r="A1"``): they are optional, but smaller readers find no cell without them.
PostgreSQL does not know in which row of which sheet a row comes to lie, so it writes ``ROW_MARK`` for the number.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from orders.exports.columns import Column

DAY_NUMBER_OF_1970 = 25569  # in Excel's 1900 date system
ROW_MARK = "\x03"  # no cell has it: XML has no place for it
HEADER_ROW = 1
SHEET_END = b"</sheetData></worksheet>"

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


class Style(StrEnum):
    """Positions in ``cellXfs`` below. The quoted ones show text that begins like a formula, and keep it text."""

    TEXT = "0"
    HEADER = "1"
    CODE = "2"
    MOMENT = "3"
    AMOUNT = "4"
    TEXT_QUOTED = "5"
    CODE_QUOTED = "6"

    @property
    def quoted(self) -> "Style":
        """Return the style for the same text where it looks like a formula."""
        return Style.CODE_QUOTED if self is Style.CODE else Style.TEXT_QUOTED


# Number formats: 0 general, 49 text, 4 is #,##0.00, 164 our own.
_STYLES = f"""{_XML}<styleSheet xmlns="{_MAIN}">\
<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>\
<fonts count="2"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font>\
<font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts>\
<fills count="2"><fill><patternFill patternType="none"/></fill>\
<fill><patternFill patternType="gray125"/></fill></fills>\
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>\
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>\
<cellXfs count="7">\
<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>\
<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>\
<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>\
<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>\
<xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>\
<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1"/>\
<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" quotePrefix="1"/>\
</cellXfs>\
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"""


def letters(number: int) -> str:
    """Return the name of a column, counted from 1.

    >>> letters(1), letters(26), letters(27)
    ('A', 'Z', 'AA')
    """
    rest, place = divmod(number - 1, 26)
    return (letters(rest) if rest else "") + chr(ord("A") + place)


def sheet_name(number: int) -> str:
    """Return where a sheet lies in the archive."""
    return f"xl/worksheets/sheet{number}.xml"


def sheet_start(columns: "Sequence[Column]", *, is_first: bool) -> bytes:
    """Return a sheet up to its header: widths, and the first row frozen."""
    widths = "".join(
        f'<col min="{number}" max="{number}" width="{column.width}" customWidth="1"/>'
        for number, column in enumerate(columns, start=1)
    )
    header = "".join(
        f'<c r="{letters(number)}{HEADER_ROW}" s="{Style.HEADER}" t="inlineStr">'
        f"<is><t>{escape(str(column.title))}</t></is></c>"
        for number, column in enumerate(columns, start=1)
    )
    selected = ' tabSelected="1"' if is_first else ""
    return (
        f'{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView{selected} workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
        '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>'
        f'<sheetFormatPr defaultRowHeight="15"/><cols>{widths}</cols><sheetData><row r="{HEADER_ROW}">{header}</row>'
    ).encode()


def parts_around(sheet_count: int) -> Iterator[tuple[str, str]]:
    """Return name and content of every part that is not a sheet."""
    numbers = range(1, sheet_count + 1)
    styles_id = sheet_count + 1
    yield "[Content_Types].xml", _content_types(numbers)
    yield (
        "_rels/.rels",
        f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    )
    sheets = "".join(f'<sheet name="{number}" sheetId="{number}" r:id="rId{number}"/>' for number in numbers)
    yield (
        "xl/workbook.xml",
        f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><bookViews><workbookView/></bookViews>'
        f"<sheets>{sheets}</sheets></workbook>",
    )
    links = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in numbers
    )
    yield (
        "xl/_rels/workbook.xml.rels",
        f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{links}'
        f'<Relationship Id="rId{styles_id}" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
    )
    yield "xl/styles.xml", _STYLES


def _content_types(numbers: range) -> str:
    sheets = "".join(
        f'<Override PartName="/{sheet_name(number)}" ContentType="{_TYPE}.worksheet+xml"/>' for number in numbers
    )
    return (
        f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>{sheets}</Types>'
    )
