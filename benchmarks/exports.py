"""How fast are exports, and how much memory do they take? Beside COPY itself, and beside the usual loops."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.db import connection

from benchmarks import export_form
from benchmarks.many_orders import place_many_orders
from benchmarks.report import Check, Figure, Section, ratio
from benchmarks.usual_exports import bare_copy, orm_and_csv_writer, orm_and_openpyxl
from orders.exports import files
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.states import ExportState, Format
from orders.models import Order

CSV_COUNT, XLSX_COUNT, SMALL_COUNT, WARM_UP_COUNT = 1_000_000, 200_000, 10_000, 1_000
ORM_COUNT = 100_000  # of the CSV's orders: the loop would take minutes for all, each row as long as the one before
MAX_ROUND_COUNT = 3
MAX_COPY_RATIO, MIN_ORM_RATIO, MIN_OPENPYXL_RATIO = 2.0, 10.0, 3.0
MAX_MEMORY_MB, MAX_SAME_MB, MAX_PROGRESS_GAP_SECONDS = 60.0, 5.0, 1.0


@dataclass(frozen=True)
class Run:
    """One export, built in a process of its own."""

    seconds: float
    idle_mb: float
    peak_mb: float
    progress_gap_seconds: float

    @property
    def above_idle_mb(self) -> float:
        return self.peak_mb - self.idle_mb


def run(*, scale: float = 1.0, round_count: int = MAX_ROUND_COUNT) -> Iterator[Section]:
    """Measure all; ``scale`` is a factor on the numbers of orders."""
    round_count = min(round_count, MAX_ROUND_COUNT)
    csv_count, xlsx_count = (max(WARM_UP_COUNT, round(count * scale)) for count in (CSV_COUNT, XLSX_COUNT))
    place_many_orders(csv_count)
    yield export_form.measure(csv_count)
    with tempfile.TemporaryDirectory() as folder:
        csv_section, large = _measure_csv(csv_count, Path(folder), round_count)
        yield csv_section
        yield _measure_xlsx(xlsx_count, Path(folder), round_count)
    yield _measure_memory(csv_count, large)


def _measure_csv(count: int, folder: Path, round_count: int) -> tuple[Section, Run]:
    bare, ours = [], []
    for _ in range(round_count):
        bare.append(_seconds(lambda: bare_copy(Selection().orders())))
        ours.append(_export(Format.CSV, count))
    orm_count = min(ORM_COUNT, count)
    orm = _seconds(lambda: orm_and_csv_writer(_first(orm_count).orders(), folder / "usual.csv"))
    bare_figure = Figure("COPY of the same columns, thrown away", bare, "s")
    ours_figure = Figure("export, from claimed to ready", [run.seconds for run in ours], "s")
    orm_figure = Figure(f"ORM and csv.writer ({orm_count:,} took {orm:,.1f} s)", [orm * count / orm_count], "s")
    section = Section(
        f"exports: CSV of {count:,} orders",
        [bare_figure, ours_figure, orm_figure],
        [
            Check("export / COPY", ratio(ours_figure, bare_figure), MAX_COPY_RATIO, at_most=True),
            Check("ORM loop / export", orm_figure.value / ours_figure.value, MIN_ORM_RATIO),
        ],
    )
    return section, ours[-1]


def _measure_xlsx(count: int, folder: Path, round_count: int) -> Section:
    ours = [_export(Format.XLSX, count).seconds for _ in range(round_count)]
    usual = [_seconds(lambda: orm_and_openpyxl(_first(count).orders(), folder / "usual.xlsx"))]
    ours_figure, usual_figure = Figure("export, from claimed to ready", ours, "s"), Figure("openpyxl loop", usual, "s")
    return Section(
        f"exports: XLSX of {count:,} orders",
        [ours_figure, usual_figure],
        [Check("openpyxl loop / export", usual_figure.value / ours_figure.value, MIN_OPENPYXL_RATIO)],
    )


def _measure_memory(count: int, large: Run) -> Section:
    small_count = min(SMALL_COUNT, count)
    small, workbook = _export(Format.CSV, small_count), _export(Format.XLSX, small_count)
    large_workbook = _export(Format.XLSX, count)
    highest = max(run.above_idle_mb for run in (small, large, workbook, large_workbook))
    growth = max(large.above_idle_mb - small.above_idle_mb, large_workbook.above_idle_mb - workbook.above_idle_mb)
    return Section(
        f"exports: memory of the worker above idle, and how long its progress stands still ({count:,} orders)",
        [
            Figure(f"CSV, {small_count:,} orders", [small.above_idle_mb], "MB"),
            Figure(f"CSV, {count:,} orders", [large.above_idle_mb], "MB"),
            Figure(f"XLSX, {small_count:,} orders", [workbook.above_idle_mb], "MB"),
            Figure(f"XLSX, {count:,} orders", [large_workbook.above_idle_mb], "MB"),
        ],
        [
            Check("highest", highest, MAX_MEMORY_MB, "MB", at_most=True),
            Check("more for many than for few", growth, MAX_SAME_MB, "MB", at_most=True),
            Check(
                "longest without news of progress (CSV)",
                large.progress_gap_seconds,
                MAX_PROGRESS_GAP_SECONDS,
                "s",
                at_most=True,
            ),
        ],
    )


def _export(file_format: Format, count: int) -> Run:
    """Build an export of the first ``count`` orders in a worker's process, and watch it from here."""
    warm_up, export = (_requested(file_format, number) for number in (min(WARM_UP_COUNT, count), count))
    command = [sys.executable, "-m", "benchmarks.export_worker", str(warm_up.pk), str(export.pk)]
    with ThreadPoolExecutor(1) as threads:
        worker = threads.submit(subprocess.run, command, check=True, capture_output=True, text=True)
        gap = _longest_gap(export, is_over=worker.done)
    measured = json.loads(worker.result().stdout.splitlines()[-1])
    export.refresh_from_db()
    if (export.state, export.rows_done) != (ExportState.READY, count):
        raise AssertionError(f"Expected an export of {count} rows, got {export.state} with {export.rows_done}.")
    files.discard(export.file_name)
    return Run(progress_gap_seconds=gap, **measured)


def _requested(file_format: Format, count: int) -> Export:
    person, _is_new = User.objects.get_or_create(username="bench")
    selection = _first(count).stored()
    return Export.objects.create(requested_by=person, format=file_format, selection=selection, language="en")


def _first(count: int) -> Selection:
    """Select the first so many orders, by their time, as people do."""
    last = Order.objects.order_by("pk")[count - 1]
    return Selection(placed_before=last.placed_at + timedelta(seconds=1))


def _longest_gap(export: Export, *, is_over: Callable[[], bool]) -> float:
    """Return the longest time for which others saw the same figures while it ran, in seconds."""
    longest, seen, seen_at = 0.0, None, time.monotonic()
    while not is_over():
        row = Export.objects.values("state", "rows_done", "rows_total").get(pk=export.pk)
        if row["state"] == ExportState.RUNNING and seen is not None:
            longest = max(longest, time.monotonic() - seen_at)
        if row != seen:
            seen, seen_at = row if row["state"] == ExportState.RUNNING else None, time.monotonic()
        time.sleep(0.05)
    return longest


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    elapsed = time.perf_counter() - started
    connection.close()
    return elapsed
