r"""Text made fit for a file, as SQL expressions: no byte of it passes through Python.

PostgreSQL stores neither NUL nor lone surrogates. What else no XML file can hold, control characters and the
noncharacters U+FFFE and U+FFFF, shows as U+FFFD in both formats, so that a reader sees that something was there; tab
and line ends stay.

Hazard: the argument of each function is an SQL expression that is repeated in the result. Pass a column, not a value.
"""

from django.conf import settings

# Regular expressions of PostgreSQL. Full-width signs: some spreadsheets take them for the plain ones.
ILLEGIBLE = r"[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
FORMULA_START = r"^(\s*[=+@\-\uff1d\uff0b\uff20\uff0d]|[\t\r\n])"
_NEGATIVE_NUMBER = r"^-\d+([.,]\d+)?$"
_WITHIN_16_BITS = r"[^\U00010000-\U0010ffff]"

MAX_EXCEL_CHARACTERS = 32_767  # UTF-16 code units of one cell; Excel calls a file with more of them broken


def legible(text: str) -> str:
    """Replace what no file can hold by U+FFFD."""
    return rf"regexp_replace({text}, '{ILLEGIBLE}', U&'\FFFD', 'g')"


def is_formula_like(text: str) -> str:
    """Tell whether a spreadsheet could take the text for a formula. A plain negative number is none."""
    return f"({text} ~ '{FORMULA_START}' AND {text} !~ '{_NEGATIVE_NUMBER}')"


def fitting_excel(text: str) -> str:
    """Cut what is longer than a cell of Excel may be, and end it with an ellipsis."""
    longest = MAX_EXCEL_CHARACTERS - 1
    is_fitting = f"length({text}) + {_beyond_16_bits(text)} <= {MAX_EXCEL_CHARACTERS}"
    cut = f"left({text}, {longest} - {_beyond_16_bits(f'left({text}, {longest})')}) || '…'"
    return f"CASE WHEN {is_fitting} THEN {text} ELSE {cut} END"


def wall_clock(moment: str) -> str:
    """Return a timestamptz as it stood on the project's clock, to the second."""
    zone = settings.TIME_ZONE.replace("'", "")
    return f"date_trunc('second', {moment} AT TIME ZONE '{zone}')"


def _beyond_16_bits(text: str) -> str:
    return rf"length(regexp_replace({text}, '{_WITHIN_16_BITS}', '', 'g'))"
