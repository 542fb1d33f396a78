"""Read files back with programs that are not ours."""

import csv
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import openpyxl
import pytest

LIBRE_OFFICE = shutil.which("soffice")


def read_csv(path: Path) -> list[list[str]]:
    """Read as RFC 4180 says; the file must begin with one BOM and end each line with CRLF."""
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    assert not content.startswith(b"\xef\xbb\xbf" * 2)
    assert content.endswith(b"\r\n")
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))


def read_xlsx(path: Path) -> list[list[Any]]:
    """Read the first sheet: values with their types."""
    return [list(row) for row in open_xlsx(path).worksheets[0].iter_rows(values_only=True)]


def open_xlsx(path: Path) -> openpyxl.Workbook:
    return openpyxl.load_workbook(path)


def read_with_libre_office(path: Path, folder: Path) -> list[list[str]]:
    """Let LibreOffice convert a workbook into CSV, and read that."""
    if LIBRE_OFFICE is None:
        pytest.skip("LibreOffice is not installed (Debian: libreoffice-calc-nogui)")
    to_csv = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,1"
    profile = f"-env:UserInstallation=file://{folder / 'profile'}"
    command = [LIBRE_OFFICE, profile, "--headless", "--convert-to", to_csv, "--outdir", str(folder), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    with next(folder.glob(f"{path.stem}*.csv")).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))
