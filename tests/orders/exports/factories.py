"""People, many orders at once, and sources of made-up rows, for the tests of exports."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from baton_messaging.extend import progress_of
from django.contrib.auth.models import Permission, User
from django.db import connection

from orders.exports import services
from orders.exports.building import write_file
from orders.exports.columns import Column, Kind, Source
from orders.exports.heartbeat import Heartbeat
from orders.exports.lease import Hold
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.states import Format
from orders.models import Order


class Row(NamedTuple):
    """One row of a made-up source."""

    text: str | None
    code: str | None = "0042"
    moment: datetime | None = None
    amount: Decimal | None = Decimal("-5.00")


_GATE = 4711  # any number that no other advisory lock has

COLUMNS = [
    Column("Key", Kind.AMOUNT, 10),
    Column("Text", Kind.TEXT, 20),
    Column("Code", Kind.CODE, 20),
    Column("Moment (UTC)", Kind.MOMENT, 20),
    Column("Amount", Kind.AMOUNT, 12),
]


def a_person(name: str = "ann", *, may_export: bool = True, **fields: Any) -> User:
    """Create a user who cannot log in by password: hashing one takes longer than most tests."""
    person = User.objects.create(username=name, email=f"{name}@example.com", password="!", **fields)
    if may_export:
        person.user_permissions.add(Permission.objects.get(codename="add_export"))
    return person


def an_export(user: User | None = None, *, file_format: Format = Format.CSV, **selection: Any) -> Export:
    return services.request_export(
        user=user or a_person(f"user-{uuid4().hex[:8]}"),
        file_format=file_format,
        selection=Selection(**selection),
        language="en",
    )


def is_processed(export: Export) -> bool:
    """Tell whether a worker has settled a message that commands this export. Others may be left of earlier tests."""
    return any(step.state == "done" for step in progress_of(str(export.pk)) if step.consumer == "orders.build_export")


def a_source(rows: Sequence[Row]) -> Source:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    sql = "SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::timestamptz[], %s::numeric[])"
    params = (list(range(len(rows))), *(list(column) for column in columns))
    return Source(sql, params, f"SELECT count(*) FROM ({sql}) AS rows", params, COLUMNS)


def written(path: Path, rows: Sequence[Row], file_format: str) -> Path:
    """Write made-up rows into a file, as a worker does."""
    heartbeat = Heartbeat(Hold(uuid4(), 1))  # it does not beat: nobody holds anything
    assert write_file(path, a_source(rows), file_format, heartbeat) == len(rows)
    return path


def many_orders(count: int) -> None:
    """Insert orders, each with one or two lines, in two statements."""
    order_id = "(lpad(to_hex(1700000000000 + n), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid"
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO orders_order (id, customer_name, customer_email, language, note, currency, total, status,
                needs_attention, placed_at, settled_at, request_fingerprint)
            SELECT {order_id}, 'Customer ' || n, 'c' || n || '@example.com', CASE n %% 3 WHEN 0 THEN 'ja' ELSE 'en' END,
                CASE n %% 4 WHEN 0 THEN 'twice, "loud"' ELSE '' END, 'EUR', n %% 1000 + 0.25,
                CASE n %% 2 WHEN 0 THEN 'accepted' ELSE 'confirmed' END, false,
                timestamptz '2026-01-01 00:00:00.7+00' + n * interval '1 minute',
                CASE n %% 2 WHEN 0 THEN NULL ELSE timestamptz '2026-01-01 00:00:30+00' + n * interval '1 minute' END,
                repeat('0', 64)
            FROM generate_series(1, %s) AS n
            """,
            [count],
        )
        cursor.execute(
            f"""
            INSERT INTO orders_orderline (order_id, product_id, quantity, unit_price)
            SELECT {order_id}, sku, 1 + n %% 3, 9.50
            FROM generate_series(1, %s) AS n, unnest(ARRAY['MUG', 'PEN']) AS sku WHERE sku = 'MUG' OR n %% 2 = 0
            """,
            [count],
        )


@contextmanager
def lines_where(condition: str) -> Iterator[None]:
    """Let the reading of orders' lines evaluate a condition that takes its time; ``fast`` is the line."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE orders_orderline RENAME TO orders_orderline_fast")
        cursor.execute(
            f"CREATE VIEW orders_orderline AS SELECT fast.* FROM orders_orderline_fast AS fast WHERE {condition}"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP VIEW orders_orderline")
            cursor.execute("ALTER TABLE orders_orderline_fast RENAME TO orders_orderline")


@contextmanager
def slow_lines(seconds_per_order: float) -> Iterator[None]:
    """Let the lines of each order take a while, so that there is something to watch."""
    with lines_where(f"(SELECT pg_sleep({seconds_per_order} + 0 * fast.quantity)) IS NOT NULL"):
        yield


@contextmanager
def held_up() -> Iterator[None]:
    """Insert 400 orders, and let whoever reads them wait at one after the middle until the block is left."""
    many_orders(400)
    gate = Order.objects.order_by("pk")[390]
    wait = f"(SELECT pg_advisory_xact_lock_shared({_GATE} + 0 * fast.quantity)) IS NOT NULL"
    with lines_where(f"fast.order_id <> '{gate.pk}' OR {wait}"), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_GATE])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_GATE])
