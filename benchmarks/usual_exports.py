"""How most projects write such files: a loop over the ORM. And the least that any way can take: COPY, thrown away."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
from django.db import connection

from orders.exports.columns import order_columns, order_source
from orders.models import OrderQuerySet

_CHUNK_SIZE = 2_000


def bare_copy(orders: OrderQuerySet) -> int:
    """Read the same columns by COPY, as they are and in no order, and do nothing with them."""
    source = order_source(orders)
    connection.ensure_connection()
    with connection.connection.cursor() as cursor, cursor.copy(f"COPY ({source.sql}) TO STDOUT", source.params) as copy:
        return sum(1 for _row in copy)


def orm_and_csv_writer(orders: OrderQuerySet, path: Path) -> None:
    """Write CSV by csv.writer, row by row."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([str(column.title) for column in order_columns()])
        for row in _rows(orders):
            writer.writerow(row)


def orm_and_openpyxl(orders: OrderQuerySet, path: Path) -> None:
    """Write XLSX by openpyxl, row by row, in its quicker mode that keeps no cells in memory."""
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet()
    sheet.append([str(column.title) for column in order_columns()])
    for row in _rows(orders):
        sheet.append(["'" + cell if isinstance(cell, str) and cell.startswith("=") else cell for cell in row])
    workbook.save(path)


def _rows(orders: OrderQuerySet) -> Iterator[list[Any]]:
    for order in orders.order_by("pk").prefetch_related("lines").iterator(chunk_size=_CHUNK_SIZE):
        yield [
            str(order.pk),
            order.reference,
            order.placed_at.replace(tzinfo=None, microsecond=0),
            order.get_status_display(),
            order.customer_name,
            order.customer_email,
            order.language,
            order.note,
            "; ".join(f"{line.product_id} × {line.quantity}" for line in order.lines.all()),
            order.currency,
            order.total,
            order.settled_at.replace(tzinfo=None, microsecond=0) if order.settled_at else None,
        ]
