"""Exports with real processes: relay, worker, broker; killed, cancelled, delivered twice, and beside other work."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction

from messaging.models import Attempt, DeadLetter, ProcessedMessage
from messaging.publish import publish
from orders.events import ExportRequested
from orders.exports import files, housekeeping
from orders.exports.models import Export
from orders.exports.states import ExportState, Format
from orders.models import Order, OrderStatus
from tests.orders.exports.factories import an_export, many_orders, slow_lines
from tests.orders.exports.readers import read_csv, read_xlsx
from tests.orders.factories import an_order
from tests.processes import Process, running, wait_until, worker_command

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("committed_catalogue", "relay")]


@pytest.fixture(scope="module")
def _bulk_worker(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    log = tmp_path_factory.mktemp("bulk") / "worker.log"
    with running(worker_command("orders.bulk", concurrency=2), log=log, ready=" ready.") as process:
        yield process


@pytest.fixture
def bulk_worker(transactional_db: None, empty_broker: None, _bulk_worker: Process) -> Process:
    """Run a worker of the lane; the tests of this module share it."""
    return _bulk_worker


def state_of(export: Export) -> str:
    export.refresh_from_db()
    return export.state


def wait_for(export: Export, state: ExportState, *, seconds: float = 60) -> None:
    wait_until(lambda: state_of(export) == state, seconds=seconds, what=f"an export that is {state}")


def wait_for_the_middle(export: Export) -> None:
    def in_the_middle() -> bool:
        export.refresh_from_db()
        return export.rows_total is not None and export.rows_done >= export.rows_total // 2

    wait_until(in_the_middle, what="an export at 50 %")
    assert export.state == ExportState.RUNNING


def path_of(export: Export) -> Path:
    return Path(files.storage().path(export.file_name))


def files_of(export: Export) -> list[str]:
    folders = (Path(files.storage().path("")), Path(settings.EXPORTS["SCRATCH_DIR"]))
    return [path.name for folder in folders if folder.exists() for path in folder.glob(f"{export.pk}*")]


@pytest.mark.parametrize("file_format", list(Format))
def test_an_export_is_built_by_the_worker_of_the_lane(file_format: Format, bulk_worker: Process) -> None:
    many_orders(1_500)
    export = an_export(file_format=file_format)
    wait_for(export, ExportState.READY)
    read = read_csv if file_format is Format.CSV else read_xlsx
    assert len(read(path_of(export))) == 1_501
    assert files_of(export) == [path_of(export).name]
    wait_until(lambda: ProcessedMessage.objects.filter(consumer="orders.build_export").count() == 1, what="the ack")


def test_a_worker_killed_at_50_percent_costs_nothing_but_time(bulk_worker: Process) -> None:
    many_orders(1_200)
    with slow_lines(0.003):
        export = an_export()
        wait_for_the_middle(export)
        kill_the_builder_of(export)
        killed_at = time.monotonic()
    wait_until(lambda: take_up() or state_of(export) == ExportState.READY, seconds=60, what="the next attempt")
    wait_for(export, ExportState.READY)
    assert time.monotonic() - killed_at < 60
    assert export.attempt_count == 2
    assert len(read_csv(path_of(export))) == 1_201
    assert not Attempt.objects.exists()
    assert not DeadLetter.objects.exists()


def test_a_worker_that_goes_down_with_all_its_children_is_replaced_by_the_next(
    tmp_path: Path, empty_broker: None
) -> None:
    many_orders(1_200)
    command = worker_command("orders.bulk", concurrency=1)
    with slow_lines(0.003), running(command, log=tmp_path / "first.log", ready=" ready.") as worker:
        export = an_export()
        wait_for_the_middle(export)
        worker.kill()
    with running(command, log=tmp_path / "second.log", ready=" ready."):
        wait_until(lambda: take_up() or state_of(export) == ExportState.READY, what="the lease to run out")
        wait_for(export, ExportState.READY)
    assert len(read_csv(path_of(export))) == 1_201


def test_cancelled_at_50_percent_leaves_no_file_and_frees_the_worker(bulk_worker: Process) -> None:
    many_orders(1_200)
    with slow_lines(0.003):
        export = an_export()
        wait_for_the_middle(export)
        assert Export.objects.cancel(export.pk)
        wait_until(lambda: ProcessedMessage.objects.filter(consumer="orders.build_export").exists(), what="the end")
    assert (state_of(export), files_of(export)) == (ExportState.CANCELLED, [])
    other = an_export()
    wait_for(other, ExportState.READY)


def test_cancelled_while_its_worker_is_dead_leaves_no_file(bulk_worker: Process) -> None:
    many_orders(1_200)
    with slow_lines(0.003):
        export = an_export()
        wait_for_the_middle(export)
        kill_the_builder_of(export)
    assert Export.objects.cancel(export.pk)
    other = an_export()  # the lane goes on, and what the killed worker left behind is not taken up
    wait_for(other, ExportState.READY)
    assert take_up() == 0
    assert state_of(export) == ExportState.CANCELLED
    assert not files.storage().exists(files.file_name(export.pk, 1, "csv"))


def test_delivered_twice_at_once_it_is_built_once(bulk_worker: Process) -> None:
    many_orders(1_200)
    with slow_lines(0.003):
        export = an_export()
        wait_for_the_middle(export)
        with transaction.atomic():
            publish(ExportRequested(export_id=export.pk))
        wait_until(lambda: ProcessedMessage.objects.filter(consumer="orders.build_export").exists(), what="the second")
        assert state_of(export) == ExportState.RUNNING
    wait_for(export, ExportState.READY)
    assert export.attempt_count == 1
    assert files_of(export) == [path_of(export).name]


def test_an_order_settles_within_five_seconds_while_five_exports_run(bulk_worker: Process, tmp_path: Path) -> None:
    many_orders(1_200)
    command = worker_command("orders", "inventory", concurrency=1)
    with running(command, log=tmp_path / "orders.log", ready=" ready."), slow_lines(0.003):
        exports = [an_export() for _ in range(5)]
        wait_until(lambda: {state_of(export) for export in exports} >= {ExportState.RUNNING}, what="running exports")
        placed_at = time.monotonic()
        order = an_order()
        wait_until(lambda: not is_open(order), seconds=20, what="the order to settle")
        assert time.monotonic() - placed_at < 5
        assert sum(state_of(export) in (ExportState.RUNNING, ExportState.QUEUED) for export in exports) >= 3
        for export in exports:
            Export.objects.cancel(export.pk)


def is_open(order: Order) -> bool:
    order.refresh_from_db()
    return order.status == OrderStatus.ACCEPTED


def take_up() -> int:
    """Do what beat asks for every ten seconds."""
    return housekeeping.take_up_abandoned()


def kill_the_builder_of(export: Export) -> None:
    """Kill -9 the child that writes the export's scratch file."""
    (scratch,) = [name for name in files_of(export) if name.count("-") > 5]
    os.kill(int(scratch.split(".")[0].rpartition("-")[2]), signal.SIGKILL)
