"""Exports with real processes: relay, worker, broker, browser; killed, cancelled, doubled, and beside other work."""

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from baton_dev.testing.browser import OpenPage
from baton_dev.testing.deadline import within
from baton_dev.testing.drain import forget_heartbeats
from baton_dev.testing.processes import Process, running, wait_until, worker_command
from baton_messaging.models import Attempt
from baton_messaging.publish import publish
from baton_messaging.testing import dead_letters
from django.conf import settings
from django.db import transaction
from playwright.sync_api import Page, expect

from orders.events import ExportRequested
from orders.exports import files, housekeeping
from orders.exports.models import Export
from orders.exports.states import ExportState, Format
from orders.models import Order, OrderStatus
from tests.orders.exports.factories import a_person, an_export, held_up, is_processed, many_orders, slow_lines
from tests.orders.exports.readers import read_csv, read_xlsx
from tests.orders.factories import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("committed_catalogue", "relay")]


class Lane:
    """The worker of the lane. The tests of this module share it; one that kills it leaves the next one behind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: Process | None = None

    def start(self) -> None:
        """Start a worker unless one is alive; without waiting for it."""
        if self._process is None or self._process.exit_code is not None:
            log = self._folder / f"{time.monotonic_ns()}.log"
            self._process = Process(worker_command("orders.bulk", concurrency=2), log=log)

    def wait(self) -> None:
        assert self._process is not None
        self._process.wait_for_output(" ready.")

    def kill(self) -> None:
        """Kill -9 the worker with all its children."""
        if self._process is not None:
            self._process.kill()


@pytest.fixture(scope="module")
def _lane(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    lane = Lane(tmp_path_factory.mktemp("lane"))
    lane.start()
    yield lane
    lane.kill()
    with django_db_blocker.unblock():
        forget_heartbeats()


@pytest.fixture
def lane(transactional_db: None, empty_broker: None, _lane: Lane) -> Lane:
    """Run a worker of the lane."""
    _lane.start()
    _lane.wait()
    return _lane


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


@pytest.mark.usefixtures("lane")
@pytest.mark.parametrize("file_format", list(Format))
def test_an_export_is_built_by_the_worker_of_the_lane(file_format: Format) -> None:
    many_orders(1_500)
    export = an_export(file_format=file_format)
    wait_for(export, ExportState.READY)
    read = read_csv if file_format is Format.CSV else read_xlsx
    assert len(read(path_of(export))) == 1_501
    assert files_of(export) == [path_of(export).name]
    wait_until(lambda: is_processed(export), what="the ack")


@pytest.mark.usefixtures("lane")
def test_a_worker_killed_at_50_percent_costs_nothing_but_time() -> None:
    with held_up():
        export = an_export()
        wait_for_the_middle(export)
        kill_the_builder_of(export)
        killed_at = time.monotonic()
    wait_until(lambda: take_up() or state_of(export) == ExportState.READY, seconds=60, what="the next attempt")
    wait_for(export, ExportState.READY)
    assert time.monotonic() - killed_at < 60
    assert export.attempt_count == 2
    assert len(read_csv(path_of(export))) == 401
    assert files_of(export) == [path_of(export).name]
    assert not Attempt.objects.exists()
    assert dead_letters() == []


def test_a_worker_that_goes_down_with_all_its_children_is_replaced_by_the_next(lane: Lane) -> None:
    with held_up():
        export = an_export()
        wait_for_the_middle(export)
        lane.kill()
    lane.start()
    wait_until(lambda: take_up() or state_of(export) == ExportState.READY, what="the lease to run out")
    wait_for(export, ExportState.READY)
    assert export.attempt_count == 2
    assert len(read_csv(path_of(export))) == 401


@pytest.mark.usefixtures("lane")
def test_cancelled_at_50_percent_leaves_no_file_and_frees_the_worker() -> None:
    with held_up():
        export = an_export()
        wait_for_the_middle(export)
        assert Export.objects.cancel(export.pk)
        wait_until(lambda: is_processed(export), what="the end")
    assert (state_of(export), files_of(export)) == (ExportState.CANCELLED, [])
    other = an_export()
    wait_for(other, ExportState.READY)


@pytest.mark.usefixtures("lane")
def test_cancelled_while_its_worker_is_dead_leaves_no_file() -> None:
    with held_up():
        export = an_export()
        wait_for_the_middle(export)
        kill_the_builder_of(export)
    assert Export.objects.cancel(export.pk)
    other = an_export()  # the lane goes on, and what the killed worker left behind is not taken up
    wait_for(other, ExportState.READY)
    assert take_up() == 0
    assert (state_of(export), files_of(export)) == (ExportState.CANCELLED, [])


@pytest.mark.usefixtures("lane")
def test_delivered_twice_at_once_it_is_built_once() -> None:
    with held_up():
        export = an_export()
        wait_for_the_middle(export)
        with transaction.atomic():
            publish(ExportRequested(export_id=export.pk))
        wait_until(lambda: is_processed(export), what="the second")
        assert state_of(export) == ExportState.RUNNING
    wait_for(export, ExportState.READY)
    assert export.attempt_count == 1
    assert files_of(export) == [path_of(export).name]


@pytest.mark.usefixtures("lane")
def test_an_order_settles_within_five_seconds_while_five_exports_run(tmp_path: Path) -> None:
    command = worker_command("orders", "inventory", concurrency=1)
    with running(command, log=tmp_path / "orders.log", ready=" ready."), held_up():
        exports = [an_export() for _ in range(5)]
        wait_until(lambda: [state_of(export) for export in exports].count("running") == 2, what="a lane that is full")
        within(place_and_settle, seconds=5)
        assert {state_of(export) for export in exports} == {ExportState.RUNNING, ExportState.QUEUED}
        for export in exports:
            Export.objects.cancel(export.pk)


@pytest.mark.usefixtures("lane")
def test_the_button_the_bar_and_the_file(live_server: Any, open_page: OpenPage, tmp_path: Path) -> None:
    person = a_person()
    person.set_password("secret")
    person.save()
    many_orders(1_000)
    page = open_page(f"{live_server.url}/exports/")
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    with slow_lines(0.003):
        page.get_by_label("Format").select_option("csv")
        page.get_by_role("button", name="Export", exact=True).click()
        expect(page).to_have_url(re.compile(r"/exports/[0-9a-f-]{36}/$"))
        seen = percents_seen(page)
        expect(page.locator("#progress")).to_contain_text("rows per second")
    expect(page.get_by_role("link", name="Download")).to_be_visible(timeout=30_000)
    assert len(seen) >= 2
    expect(page.locator("#summary")).to_have_text("ready")
    expect(page.locator("[hx-get]")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    download.value.save_as(tmp_path / "download.csv")
    assert download.value.suggested_filename.startswith("orders_")
    rows = read_csv(tmp_path / "download.csv")[1:]
    assert [row[0] for row in rows] == [str(pk) for pk in Order.objects.order_by("pk").values_list("pk", flat=True)]


def percents_seen(page: Page) -> set[int]:
    """Watch the bar until it has moved from one place between its ends to another."""
    seen: set[int] = set()
    for _ in range(200):
        seen |= {int(page.locator("#bar").get_attribute("value") or 0)} - {0, 100}
        if len(seen) >= 2:
            break
        page.wait_for_timeout(50)
    return seen


def place_and_settle() -> None:
    order = an_order()
    wait_until(lambda: not is_open(order), what="the order to settle")


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
