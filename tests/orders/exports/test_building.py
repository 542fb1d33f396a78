"""Building a file: whole or not at all, from one snapshot, by one holder, with a state that says what came of it."""

import errno
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.testing import assert_published, published
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection
from django.utils import translation

from orders.events import ExportReady
from orders.exports import files
from orders.exports.building import build
from orders.exports.columns import order_source
from orders.exports.heartbeat import Heartbeat
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.states import ExportState, Failure, Format
from orders.models import Order
from tests.orders.exports.factories import an_export, many_orders, slow_lines
from tests.orders.exports.readers import open_xlsx, read_csv, read_xlsx

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("committed_catalogue", "storage_folder")]


def built(export: Export) -> Export:
    build(export.pk, worker="test")
    export.refresh_from_db()
    return export


def path_of(export: Export) -> Path:
    return Path(files.storage().path(export.file_name))


def all_files(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


@contextmanager
def at(rows: int, then: Callable[[Heartbeat], None], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Do something in the builder's own thread once so many rows are written."""
    check = Heartbeat.check

    def check_and_act(heartbeat: Heartbeat) -> None:
        if heartbeat.rows_done >= rows:
            then(heartbeat)
        check(heartbeat)

    with monkeypatch.context() as patched:
        patched.setattr(Heartbeat, "check", check_and_act)
        yield


def in_another_thread(call: Callable[[], Any]) -> None:
    def run() -> None:
        try:
            call()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def expected_row(order: Order) -> list[str]:
    moments = [f"{moment:%Y-%m-%d %H:%M:%S}" if moment else "" for moment in (order.placed_at, order.settled_at)]
    items = "; ".join(f"{line.product_id} × {line.quantity}" for line in order.lines.all())
    return [
        str(order.pk), order.reference, moments[0], order.status, order.customer_name, order.customer_email,
        order.language, order.note, items, order.currency, str(order.total), moments[1],
    ]  # fmt: skip


def test_a_csv_file_holds_each_order_once_cell_by_cell(storage_folder: Path) -> None:
    many_orders(1_234)
    export = built(an_export())
    assert (export.state, export.rows_done, export.rows_total, export.percent) == (ExportState.READY, 1_234, 1_234, 100)
    assert export.size_bytes == path_of(export).stat().st_size
    header, *rows = read_csv(path_of(export))
    assert header[2] == "Placed at (UTC)"
    assert rows == [expected_row(order) for order in Order.objects.order_by("pk").prefetch_related("lines")]
    assert all_files(storage_folder.parent) == [path_of(export).name]


def test_an_xlsx_file_holds_each_order_once_with_typed_cells() -> None:
    many_orders(200)
    export = built(an_export(file_format=Format.XLSX))
    sheet = open_xlsx(path_of(export)).worksheets[0]
    assert sheet.freeze_panes == "A2"
    assert sheet.column_dimensions["A"].width == 38
    rows = read_xlsx(path_of(export))[1:]
    for order, row in zip(Order.objects.order_by("pk").prefetch_related("lines"), rows, strict=True):
        as_text = ["" if cell is None else str(cell) for cell in row]
        as_text[10] = f"{row[10]:.2f}"
        assert as_text == expected_row(order)


@pytest.mark.parametrize("file_format", list(Format))
def test_an_order_without_lines_and_with_the_largest_total_is_a_row_like_any_other(file_format: Format) -> None:
    many_orders(3)
    connection.cursor().execute("DELETE FROM orders_orderline")
    Order.objects.update(total=Decimal("999999999999.99"), customer_name="=1+1", note="x" * 500)
    path = path_of(built(an_export(file_format=file_format)))
    rows: list[list[Any]] = read_csv(path)[1:] if file_format is Format.CSV else read_xlsx(path)[1:]
    assert len(rows) == 3
    for row in rows:
        assert (row[8] or "", float(row[10])) == ("", 999999999999.99)


@pytest.mark.parametrize("file_format", list(Format))
def test_an_empty_result_is_a_header_and_complete(file_format: Format) -> None:
    export = built(an_export(file_format=file_format))
    assert (export.state, export.rows_total, export.percent) == (ExportState.READY, 0, 100)
    reader = read_csv if file_format is Format.CSV else read_xlsx
    assert len(reader(path_of(export))) == 1


def test_ready_is_announced_in_the_same_commit() -> None:
    export = built(an_export())
    assert_published(ExportReady, key=export.pk)


def test_the_file_speaks_the_language_of_the_export() -> None:
    many_orders(2)
    export = an_export()
    Export.objects.update(language="ja")
    header, *rows = read_csv(path_of(built(export)))
    assert header[0] == "注文 ID"
    with translation.override("ja"):
        assert [row[3] for row in rows] == [order.get_status_display() for order in Order.objects.order_by("pk")]


def test_orders_that_come_or_go_meanwhile_shift_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    many_orders(3_000)
    ids = [str(pk) for pk in Order.objects.order_by("pk").values_list("pk", flat=True)]
    done: list[None] = []

    def disturb(_heartbeat: Heartbeat) -> None:
        if not done:
            done.append(None)
            in_another_thread(
                lambda: connection.cursor().execute("DELETE FROM orders_orderline; DELETE FROM orders_order")
            )

    with at(1_000, disturb, monkeypatch):
        export = built(an_export())
    assert not Order.objects.exists()
    rows = read_csv(path_of(export))[1:]
    assert [row[0] for row in rows] == ids
    assert all(row[8] for row in rows)


def test_progress_is_seen_by_others_while_the_snapshot_is_open() -> None:
    many_orders(200)
    export = an_export()
    seen: list[int] = []

    def watch() -> None:
        while (row := Export.objects.get(pk=export.pk)).is_active:
            seen.append(row.rows_total or 0)
            threading.Event().wait(0.05)
        connection.close()

    watcher = threading.Thread(target=watch)
    with slow_lines(0.004):
        watcher.start()
        built(export)
        watcher.join()
    assert 200 in seen


def test_cancelled_in_the_middle_means_no_file(monkeypatch: pytest.MonkeyPatch, storage_folder: Path) -> None:
    many_orders(2_000)
    export = an_export()

    def cancel(heartbeat: Heartbeat) -> None:
        in_another_thread(lambda: Export.objects.cancel(export.pk))
        wait_until(lambda: heartbeat.is_lost, what="the heartbeat to notice")

    with at(1_000, cancel, monkeypatch):
        built(export)
    assert export.state == ExportState.CANCELLED
    assert all_files(storage_folder.parent) == []
    assert published(ExportReady) == []


def test_cancelling_interrupts_a_statement_that_the_builder_waits_for() -> None:
    many_orders(1)
    export = an_export()

    def cancel_soon() -> None:
        wait_until(lambda: Export.objects.get(pk=export.pk).state == ExportState.RUNNING)
        Export.objects.cancel(export.pk)
        connection.close()

    thread = threading.Thread(target=cancel_soon)
    with slow_lines(60):
        thread.start()
        built(export)
        thread.join()
    assert export.state == ExportState.CANCELLED


def test_cancelled_after_the_last_row_means_no_file(monkeypatch: pytest.MonkeyPatch, storage_folder: Path) -> None:
    put_in_place = files.put_in_place
    export = an_export()

    def put_in_place_and_cancel(*args: Any) -> int:
        size = put_in_place(*args)
        assert len(all_files(storage_folder)) == 1
        assert Export.objects.cancel(export.pk)
        return size

    monkeypatch.setattr(files, "put_in_place", put_in_place_and_cancel)
    assert built(export).state == ExportState.CANCELLED
    assert all_files(storage_folder.parent) == []


def test_a_second_delivery_while_the_first_is_at_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    many_orders(2_000)
    export = an_export()
    with at(1_000, lambda _heartbeat: in_another_thread(lambda: built(export)), monkeypatch):
        built(export)
    assert (export.state, export.attempt_count) == (ExportState.READY, 1)
    assert built(export).attempt_count == 1  # nor does a third one, later
    assert_published(ExportReady)


def test_a_builder_that_lost_its_lease_puts_no_file_in_place(
    monkeypatch: pytest.MonkeyPatch, storage_folder: Path
) -> None:
    many_orders(2_000)
    export = an_export()

    def take_over(heartbeat: Heartbeat) -> None:
        Export.objects.filter(pk=export.pk, attempt_count=1).update(attempt_count=2)
        wait_until(lambda: heartbeat.is_lost, what="the heartbeat to notice")

    with at(1_000, lambda heartbeat: in_another_thread(lambda: take_over(heartbeat)), monkeypatch):
        built(export)
    assert (export.state, export.attempt_count) == (ExportState.RUNNING, 2)
    assert all_files(storage_folder.parent) == []


@pytest.mark.parametrize("backend", ["FailsOnTheLastByte", "Full", "Away", "LosesTheLastByte"])
def test_a_storage_that_fails_ends_it_as_failed_without_a_file(
    backend: str, settings: Any, storage_folder: Path
) -> None:
    many_orders(50)
    storage = {"BACKEND": f"tests.orders.exports.storages.{backend}", "OPTIONS": {"location": storage_folder}}
    settings.STORAGES = {**settings.STORAGES, "exports": storage}
    export = built(an_export())
    reason = Failure.INCOMPLETE if backend == "LosesTheLastByte" else Failure.STORAGE
    assert (export.state, export.failure, export.file_name) == (ExportState.FAILED, reason, "")
    assert all_files(storage_folder.parent) == []


def test_a_storage_without_rename_gets_the_whole_file(settings: Any, storage_folder: Path) -> None:
    many_orders(3_000)
    storage = {"BACKEND": "tests.orders.exports.storages.WithoutRename", "OPTIONS": {"location": storage_folder}}
    settings.STORAGES = {**settings.STORAGES, "exports": storage}
    assert len(read_csv(path_of(built(an_export())))) == 3_001


@pytest.mark.parametrize("file_format", list(Format))
def test_a_full_disk_ends_it_as_failed_without_a_file(
    file_format: Format, settings: Any, tmp_path: Path, storage_folder: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs takes root")
    many_orders(4_000)
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], check=False)
    if mounted.returncode != 0:
        pytest.skip("this machine mounts no tmpfs")
    try:
        settings.EXPORTS = {**settings.EXPORTS, "SCRATCH_DIR": small}
        export = built(an_export(file_format=file_format))
        assert (export.state, export.failure) == (ExportState.FAILED, Failure.STORAGE)
        assert all_files(small) == []
        assert all_files(storage_folder) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_file_that_grows_too_large_ends_it_as_failed(monkeypatch: pytest.MonkeyPatch, storage_folder: Path) -> None:
    """The disk that is full, also where no tmpfs can be mounted."""
    many_orders(2_000)

    def no_space(_heartbeat: Heartbeat) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with at(1_000, no_space, monkeypatch):
        export = built(an_export(file_format=Format.XLSX))
    assert (export.state, export.failure) == (ExportState.FAILED, Failure.STORAGE)
    assert all_files(storage_folder.parent) == []


def time_is_over(_heartbeat: Heartbeat) -> None:
    raise SoftTimeLimitExceeded


def time_is_over_in_a_library(_heartbeat: Heartbeat) -> None:
    try:
        raise SoftTimeLimitExceeded
    finally:
        raise KeyError("what the library does on its way out")


@pytest.mark.parametrize("ends", [time_is_over, time_is_over_in_a_library])
def test_the_soft_time_limit_ends_it_as_failed_and_names_the_limit(
    ends: Callable[[Heartbeat], None], monkeypatch: pytest.MonkeyPatch, storage_folder: Path
) -> None:
    many_orders(2_000)
    with at(1_000, ends, monkeypatch):
        export = built(an_export())
    assert (export.state, export.failure, export.limit) == (ExportState.FAILED, Failure.TIME_LIMIT, 1_200)
    assert all_files(storage_folder.parent) == []


def test_a_time_limit_in_the_middle_of_a_statement_is_recorded_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: Any) -> int:
        connection.connection.pgconn.send_query(b"SELECT pg_sleep(1)")
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(files, "put_in_place", interrupted)
    export = built(an_export())
    assert (export.state, export.failure) == (ExportState.FAILED, Failure.TIME_LIMIT)


def test_an_unexpected_error_is_recorded_and_raised_for_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(_heartbeat: Heartbeat) -> None:
        raise ZeroDivisionError

    many_orders(1)
    export = an_export()
    with at(1, break_down, monkeypatch), pytest.raises(ZeroDivisionError):
        built(export)
    export.refresh_from_db()
    assert (export.state, export.failure) == (ExportState.FAILED, Failure.UNEXPECTED)


def test_the_scratch_files_of_killed_workers_go_with_the_next_export(settings: Any) -> None:
    folder = Path(settings.EXPORTS["SCRATCH_DIR"])
    folder.mkdir(parents=True)
    running, overtaken, ended = an_export(), an_export(), an_export()
    for export in (running, overtaken, ended):
        assert Export.objects.claim(export.pk, worker="w")
        (folder / f"{export.pk}-1-4711.csv").touch()
    Export.objects.filter(pk=overtaken.pk).update(attempt_count=2)
    Export.objects.cancel(ended.pk)
    (folder / f"{uuid4()}-1-4711.csv").touch()  # its row has been forgotten
    (folder / "somebody else's").touch()
    built(an_export())
    assert sorted(all_files(folder)) == sorted([f"{running.pk}-1-4711.csv", "somebody else's"])


def test_rows_flow_before_the_last_one_is_read() -> None:
    """Nothing is sorted after the lines of all orders are read: progress would stand still, and then jump."""
    many_orders(10)
    for selection in (Selection(), Selection(from_day=date(2026, 1, 1))):
        source = order_source(selection.orders())
        with connection.cursor() as cursor:
            cursor.execute(
                f"EXPLAIN SELECT 1 FROM ({source.sql} OFFSET 0) AS source ({', '.join(source.aliases)}) ORDER BY c0",
                source.params,
            )
            plan = [line for (line,) in cursor.fetchall()]
        assert plan[0].startswith("Subquery Scan on source")
        assert "Subquery Scan on sorted" in plan[1]
